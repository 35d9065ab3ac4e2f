/** cairn rekey: what was sealed opens under the new key alone, what was issued stays valid, and a kill loses neither. */
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, type Hub, runCairn, startHub } from '../support/hub.ts';
import { type Account, type Credential, download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let hub: Hub | undefined;
afterEach(async () => {
  await hub?.kill();
  hub = undefined;
});

const keyIn = (folder: string) => readFileSync(join(folder, 'master.key'), 'utf8').trim();
const hex = () => randomBytes(32).toString('hex');

interface Kept {
  readonly who: Account & Credential;
  readonly commit: string;
  readonly bytes: Buffer;
}

/** A stopped hub with one blob and the credential that uploaded it. */
async function stoppedHub(env: Record<string, string> = {}): Promise<{ folder: string; kept: Kept }> {
  const folder = temporaryFolder();
  hub = await startHub({ dataFolder: folder, env });
  const kept = { who: await mirrorAccount(hub), commit: randomCommit(), bytes: randomBytes(1000) };
  expect((await upload(hub, kept.who, kept.commit, kept.bytes)).status).toBe(200);
  expect(await hub.stop()).toBe(0);
  return { folder, kept };
}

/** The old token and secret of before upload and download, and the account key names its account. */
async function expectServes(
  folder: string,
  { who, commit, bytes }: Kept,
  env: Record<string, string> = {},
): Promise<void> {
  hub = await startHub({ dataFolder: folder, env });
  expect((await download(hub, who, commit)).bytes.equals(bytes)).toBe(true);
  expect((await upload(hub, who, randomCommit(), bytes)).status).toBe(200);
  expect((await hub.cli('verify')).code).toBe(0);
  expect(await hub.stop()).toBe(0);
}

test('[OPS-11] rekey changes the key file; keys and credentials stay valid, and the old key opens nothing', async () => {
  const { folder, kept } = await stoppedHub();
  const old = keyIn(folder);
  const backup = join(temporaryFolder(), 'before');
  expect((await runCairn(['backup', backup], { CAIRN_DATA: folder })).code).toBe(0);
  for (let round = 0; round < 2; round += 1) {
    const before = keyIn(folder);
    const { code, stdout } = await runCairn(['rekey', '--json'], { CAIRN_DATA: folder });
    expect([code, JSON.parse(stdout)]).toEqual([0, { credentials: 1, compacted: true }]);
    expect(keyIn(folder)).not.toBe(before);
    expect(existsSync(join(folder, 'master.key.next'))).toBe(false);
    await expectServes(folder, kept);
  }
  const current = keyIn(folder);
  writeFileSync(join(folder, 'master.key'), old);
  const refused = await runCairn(['verify'], { CAIRN_DATA: folder });
  expect(refused.stdout).toContain('another master key');
  writeFileSync(join(folder, 'master.key'), current);
  // An earlier backup needs the earlier key; a new one needs the new key.
  const restored = temporaryFolder();
  writeFileSync(join(restored, 'master.key'), current);
  const wrong = await runCairn(['restore', backup], { CAIRN_DATA: restored });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('another master key')]);
  writeFileSync(join(restored, 'master.key'), old);
  expect((await runCairn(['restore', backup], { CAIRN_DATA: restored })).code).toBe(0);
  await expectServes(restored, kept);
  const after = join(temporaryFolder(), 'after');
  expect((await runCairn(['backup', after, '--with-key'], { CAIRN_DATA: folder })).code).toBe(0);
  const fresh = temporaryFolder();
  expect((await runCairn(['restore', after], { CAIRN_DATA: fresh })).code).toBe(0);
  await expectServes(fresh, kept);
}, 120_000);

test('[OPS-11] with CAIRN_MASTER_KEY the new key is piped in; a running service and wrong keys are refused', async () => {
  const [old, next] = [hex(), hex()];
  const { folder, kept } = await stoppedHub({ CAIRN_MASTER_KEY: old });
  const env = { CAIRN_DATA: folder, CAIRN_MASTER_KEY: old };
  expect((await runCairn(['rekey'], env)).stderr).toContain('--key-stdin');
  expect((await runCairn(['rekey', '--key-stdin'], env, 'abc\n')).code).toBe(2);
  expect((await runCairn(['rekey', '--key-stdin'], env, `${old}\n`)).stderr).toContain('the old one');
  expect((await runCairn(['rekey', '--key-stdin'], { ...env, CAIRN_MASTER_KEY: next }, `${hex()}\n`)).code).toBe(1);
  hub = await startHub({ dataFolder: folder, env });
  expect((await runCairn(['rekey', '--key-stdin'], env, `${next}\n`)).code).toBe(1);
  expect(await hub.stop()).toBe(0);
  expect((await runCairn(['rekey', '--key-stdin'], env, `${next}\n`)).code).toBe(0);
  await expectServes(folder, kept, { CAIRN_MASTER_KEY: next });
  expect((await runCairn(['verify'], env)).stdout).toContain('another master key');
  expect(existsSync(join(folder, 'master.key'))).toBe(false);
}, 120_000);

test('[OPS-11] killed at any moment, rekey leaves a data file and a key that fit', async () => {
  const { folder, kept } = await stoppedHub();
  const keys = new Set([keyIn(folder)]);
  for (let round = 0; round < 8; round += 1) {
    const child = spawn(process.execPath, [CAIRN, 'rekey'], {
      env: cleanEnvironment({ CAIRN_DATA: folder }),
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const timer = setTimeout(() => child.kill('SIGKILL'), randomInt(300, 1000));
    await ended;
    clearTimeout(timer);
    // A reader settles nothing, and finds the right key all the same.
    expect((await runCairn(['verify'], { CAIRN_DATA: folder })).code).toBe(0);
    keys.add(keyIn(folder));
  }
  await expectServes(folder, kept);
  // Both places of a cut: the next key is there and the data has the old one, and the other way round.
  const current = keyIn(folder);
  writeFileSync(join(folder, 'master.key.next'), hex());
  await expectServes(folder, kept);
  expect([keyIn(folder), existsSync(join(folder, 'master.key.next'))]).toEqual([current, false]);
  writeFileSync(join(folder, 'master.key.next'), current);
  writeFileSync(join(folder, 'master.key'), hex());
  expect((await runCairn(['verify'], { CAIRN_DATA: folder })).code).toBe(0);
  await expectServes(folder, kept);
  expect([keyIn(folder), existsSync(join(folder, 'master.key.next'))]).toEqual([current, false]);
}, 180_000);
