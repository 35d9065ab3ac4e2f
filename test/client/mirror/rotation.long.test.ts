/** Replacing the credential loses no archive, wherever the command is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupMachine, commitFile, gitIn, refsOf, testRepository } from '../../support/backup-machine.ts';
import { startByteRelay } from '../../support/byte-relay.ts';
import { isComplete } from '../../support/disk-trace.ts';
import { CAIRN, cleanEnvironment, runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { until } from '../../support/mirror-state.ts';
import { canTrace, straceWrapper } from '../../support/strace.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
/** The points at which it is killed: every n-th. */
const STEP = Number(process.env['ROTATION_STEP'] ?? 3);

const exited = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve));

test('[MIR-20] a rotation killed before or after any request loses no archive, and the next run completes it', async () => {
  const who = await account(hub);
  const relay = await startByteRelay(hub);
  const machine = backupMachine(hub, who, { CAIRN_SERVER: relay.url });
  await machine.cairn('init');
  const { folder } = testRepository(4096, 'first');
  const commits = [0, 1, 2].map((i) => {
    const commit = commitFile(folder, 'a.txt', `${i}\n`);
    return { commit, refs: '' };
  });
  for (const one of commits) {
    gitIn(folder, 'reset', '--quiet', '--hard', one.commit);
    expect((await machine.cairnIn(folder, 'push')).code).toBe(0);
    one.refs = refsOf(folder);
  }
  const listed = async () =>
    (JSON.parse((await machine.cairn('list', '--json')).stdout) as { blobs: { sha256: string }[] }).blobs.map(
      (one) => one.sha256,
    );
  const archives = await listed();

  const rotate = async (kill: number | undefined, isAfter: boolean) => {
    const begun = relay.requests.length;
    const env = cleanEnvironment({ XDG_CONFIG_HOME: machine.config, CAIRN_SERVER: relay.url, CAIRN_KEY: who.mcp_key });
    const child = spawn(process.execPath, [CAIRN, 'mirror', 'init', '--rotate'], { env, stdio: 'ignore' });
    const end = () => void child.kill('SIGKILL');
    relay.fault = (number) => (number - begun === kill ? (isAfter ? { after: end } : { before: end }) : undefined);
    const code = await exited(child);
    relay.fault = () => undefined;
    return { code, requests: relay.requests.length - begun };
  };
  const { code, requests } = await rotate(undefined, false);
  expect(code).toBe(0);
  expect(requests).toBeGreaterThan(archives.length * 3);
  for (let kill = 0; kill < requests; kill += STEP) {
    for (const isAfter of [false, true]) {
      await rotate(kill, isAfter);
      expect((await rotate(undefined, false)).code, `after a kill at request ${kill}, ${isAfter}`).toBe(0);
      expect(await listed()).toEqual(archives);
    }
  }
  for (const { commit, refs } of commits) {
    const output = join(temporaryFolder(), 'restored');
    expect(await machine.cairn('pull', '--commit', commit, '--output', output)).toMatchObject({ code: 0 });
    expect(refsOf(output)).toBe(refs);
  }
  expect(readdirSync(join(machine.config, 'cairn')).toSorted()).toEqual(['identity.txt', 'mirror.json']);
  expect((await machine.cairnIn(folder, 'push', '--again')).code).toBe(0);
  relay.close();
}, 1_200_000);

test.runIf(canTrace)(
  '[MIR-20] the archives are on the disk before the credential that reads them is replaced',
  async () => {
    const who = await account(hub);
    const machine = backupMachine(hub, who);
    await machine.cairn('init');
    const { folder } = testRepository(4096, 'first');
    for (const text of ['1\n', '2\n']) {
      commitFile(folder, 'a.txt', text);
      expect((await machine.cairnIn(folder, 'push')).code).toBe(0);
    }
    const { blobs } = JSON.parse((await machine.cairn('list', '--json')).stdout) as { blobs: { sha256: string }[] };
    const output = join(temporaryFolder(), 'trace');
    const env = { XDG_CONFIG_HOME: machine.config, CAIRN_SERVER: hub.url, CAIRN_KEY: who.mcp_key };
    const rules = ['trace=fsync,fdatasync,rename,exit_group', 'decode-fds=path'];
    const rotated = await runCairn(['backups', 'init', '--rotate'], env, '', straceWrapper(rules, output));
    expect(rotated.code).toBe(0);
    await until('the trace is complete', () => isComplete(output) || undefined);
    const calls = readFileSync(output, 'utf8').split('\n');
    // The journal says what is saved, then that all of it is.
    const [, isSaved = 0] = calls.flatMap((call, at) => (/rename\(.*-rotation-\w+\.json"/.test(call) ? [at] : []));
    const flushed = calls
      .slice(0, isSaved)
      .filter((call) => /f(data)?sync\(\d+</.test(call))
      .join('\n');
    for (const { sha256 } of blobs) expect(flushed).toMatch(new RegExp(`-rotation-\\w+/${sha256}>`));
    expect(flushed).toMatch(/-rotation-\w+>/);
  },
);

test('[MIR-23] many recipients: one lost key with a second one left, a new key by rewrap, and push notices other recipients', async () => {
  const who = await account(hub);
  const [laptop, safe] = [backupMachine(hub, who), backupMachine(hub, await account(hub))];
  await laptop.cairn('init');
  await safe.cairn('init');
  const recipientOf = async (machine: typeof laptop) => /age1\w+/.exec((await machine.cairn('init')).stdout)?.[0] ?? '';
  const [own, glass] = [await recipientOf(laptop), await recipientOf(safe)];
  const { folder } = testRepository(4096, 'shared');
  const tree = testRepository(4096, 'files');
  await laptop.cairnIn(tree.folder, 'push', '--tree');
  const push = async (...options: string[]) => (await laptop.cairnIn(folder, 'push', ...options)).stdout;
  expect(await push()).toContain('the first of this repository');
  expect(await push('--recipient', `${own},${glass}`)).toContain('the newest backup is for other recipients');
  expect(await push('--recipient', `${glass},${own}`)).toContain('already backed up');
  commitFile(folder, 'a.txt', 'a\n');
  expect(await push('--recipient', `${own},${glass}`)).toContain('(increment)');

  // The laptop is gone; the key in the safe is enough.
  const identity = join(safe.config, 'cairn', 'identity.txt');
  const other = backupMachine(hub, who);
  const output = join(temporaryFolder(), 'restored');
  expect((await other.cairn('pull', '--repository', 'shared', '--identity', identity, '--output', output)).code).toBe(
    0,
  );
  expect(refsOf(output)).toBe(refsOf(folder));

  const third = backupMachine(hub, await account(hub));
  await third.cairn('init');
  const fresh = await recipientOf(third);
  const rewrapped = await laptop.cairn('rewrap', '--recipient', fresh);
  expect(rewrapped).toMatchObject({ code: 0, stderr: expect.stringContaining('earlier backups stay as they are') });
  // The next push would leave the new key out, so the command says how to keep it.
  expect(rewrapped.stderr).toContain(`still encrypts for ${own} alone`);
  const [advice = ''] = /(?<=`cairn backups )init --recipient age1\w+(?=`)/.exec(rewrapped.stderr) ?? [];
  expect((await laptop.cairn(...advice.split(' '))).code).toBe(0);
  expect(await push()).toContain('already backed up');
  mkdirSync(join(other.config, 'cairn'), { recursive: true });
  copyFileSync(join(third.config, 'cairn', 'identity.txt'), join(other.config, 'cairn', 'identity.txt'));
  for (const [name, source] of [
    ['shared', folder],
    ['files', tree.folder],
  ] as const) {
    const again = join(temporaryFolder(), name);
    expect(await other.cairn('pull', '--repository', name, '--output', again)).toMatchObject({ code: 0 });
    if (name === 'shared') expect(refsOf(again)).toBe(refsOf(source));
  }
  expect((await laptop.cairn('pull', '--repository', 'shared', '--output', join(temporaryFolder(), 'x'))).code).toBe(6);
}, 600_000);
