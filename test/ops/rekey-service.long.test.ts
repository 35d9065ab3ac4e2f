/** cairn rekey: what was sealed opens under the new key alone, what was issued stays valid, and a kill loses neither. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCairn } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { withHub } from '../support/use-hub.ts';
import { expectServes, hex, keyIn, stoppedHub } from './sealed.ts';

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
  expect(refused.stdout).toMatch(/problems found; run `cairn verify` again with the right master key\.\n$/);
  writeFileSync(join(folder, 'master.key'), current);
  // An earlier backup needs the earlier key; a new one needs the new key.
  const restored = temporaryFolder();
  writeFileSync(join(restored, 'master.key'), current);
  const wrong = await runCairn(['restore', backup], { CAIRN_DATA: restored });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('the master key does not match this backup')]);
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
  expect((await runCairn(['rekey', '--key-stdin'], env, `${old}\n`)).stderr).toContain('equals the current one');
  expect((await runCairn(['rekey', '--key-stdin'], { ...env, CAIRN_MASTER_KEY: next }, `${hex()}\n`)).code).toBe(1);
  await withHub({ dataFolder: folder, env }, async () => {
    expect((await runCairn(['rekey', '--key-stdin'], env, `${next}\n`)).code).toBe(1);
  });
  expect((await runCairn(['rekey', '--key-stdin'], env, `${next}\n`)).code).toBe(0);
  await expectServes(folder, kept, { CAIRN_MASTER_KEY: next });
  expect((await runCairn(['verify'], env)).stdout).toContain('another master key');
  expect(existsSync(join(folder, 'master.key'))).toBe(false);
}, 120_000);
