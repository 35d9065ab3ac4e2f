/** Replacing the credential beside a damaged archive: the others are sent again, and it is named with what to do. */
import { spawn } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { backupMachine, commitFile, testRepository } from '../../support/backup-machine.ts';
import { type ByteRelay, startByteRelay } from '../../support/byte-relay.ts';
import { flip } from '../../support/flip.ts';
import { CAIRN, cleanEnvironment } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
const relays: ByteRelay[] = [];
afterEach(() => {
  for (const relay of relays.splice(0)) relay.close();
});

/** A machine whose hub has three archives of one repository, oldest first. `bytes`: of the first, which is the largest. */
async function threeArchives(bytes: number) {
  const who = await account(hub);
  const relay = await startByteRelay(hub);
  relays.push(relay);
  const machine = backupMachine(hub, who, { CAIRN_SERVER: relay.url });
  await machine.cairn('init');
  const { folder } = testRepository(bytes, 'site');
  for (const text of ['1\n', '2\n', '3\n']) {
    commitFile(folder, 'a.txt', text);
    expect((await machine.cairnIn(folder, 'push')).code).toBe(0);
  }
  const { blobs } = JSON.parse((await machine.cairn('list', '--json')).stdout) as {
    blobs: { commit_sha: string; sha256: string }[];
  };
  const archives = blobs.toReversed();
  /** Of each archive, whether it can be downloaded. */
  const readable = () =>
    Promise.all(
      archives.map(async ({ commit_sha: commit }) => {
        const output = join(temporaryFolder(), 'archive.age');
        return (await machine.cairn('pull', '--encrypted', '--commit', commit, '--output', output)).code === 0;
      }),
    );
  const rotate = (...more: string[]) => machine.cairn('init', '--rotate', ...more);
  return { who, machine, relay, archives, folder, readable, rotate };
}

type Archives = Awaited<ReturnType<typeof threeArchives>>;

/** Rotates, is killed at the request that `isLast` accepts, and returns the folder of the copies. */
async function killedAt({ machine, relay }: Archives, isLast: (line: string) => boolean, when: 'before' | 'after') {
  const env = cleanEnvironment({ ...machine.env });
  const child = spawn(process.execPath, [CAIRN, 'backups', 'init', '--rotate'], { env, stdio: 'ignore' });
  const closed = new Promise((resolve) => child.once('close', (_code, signal) => resolve(signal)));
  const end = () => void child.kill('SIGKILL');
  const fault = when === 'after' ? { after: end } : { before: end, refuses: { status: 503 } };
  relay.fault = (_number, line) => (isLast(line) ? fault : undefined);
  expect(await closed).toBe('SIGKILL');
  relay.fault = () => undefined;
  const config = join(machine.config, 'cairn');
  const [copies = ''] = readdirSync(config).filter((name) => /^mirror-rotation-\w+$/.test(name));
  return join(config, copies);
}

const isUpload = (line: string) => line === 'POST /api/cert_mirror';
const isRotation = (line: string) => line.startsWith('POST /api/cert_mirror/credentials');

test.each([
  ['small', 4096],
  ['large', 400_000],
])(
  '[MIR-20] a %s archive that is damaged on the hub does not hold up a rotation',
  async (_name, bytes) => {
    const { machine, archives, folder, readable, rotate } = await threeArchives(bytes);
    const [first] = archives;
    if (first === undefined) throw new Error('there are three');
    const kept = join(temporaryFolder(), 'kept.age');
    expect((await machine.cairn('pull', '--encrypted', '--commit', first.commit_sha, '--output', kept)).code).toBe(0);
    flip(hub.dataFolder, readFileSync(kept).subarray(1000, 1064));
    const rotated = await rotate();
    expect([rotated.code, rotated.stdout, rotated.stderr]).toEqual([
      7,
      expect.stringContaining('The credential was replaced; 2 archives sent again.'),
      expect.stringMatching(
        new RegExp(
          `^cairn: the archive of commit ${first.commit_sha} of site is damaged on the hub.*push --again.*\\.$`,
          'm',
        ),
      ),
    ]);
    expect(await readable()).toEqual([false, true, true]);
    expect(readdirSync(join(machine.config, 'cairn')).toSorted()).toEqual(['identity.txt', 'mirror.json']);
    // Again: nothing is begun, and the one that was lost is counted among those that were unreadable.
    expect(await rotate()).toMatchObject({ code: 0, stderr: expect.stringContaining('1 archive already cannot be') });
    expect((await machine.cairnIn(folder, 'push', '--again')).code).toBe(0);
  },
  300_000,
);

test('[MIR-20] a rotation whose copy was changed on this disk sends the others, and goes on once the copy is replaced', async () => {
  const all = await threeArchives(4096);
  const { who, archives, readable, rotate } = all;
  const copies = await killedAt(all, isUpload, 'before');
  const [, second, third] = archives;
  if (second === undefined || third === undefined) throw new Error('there are three');
  const copy = join(copies, second.sha256);
  writeFileSync(copy, Buffer.alloc(1000));
  for (const _again of [1, 2]) {
    const { code, stdout, stderr } = await rotate();
    expect([code, stdout, stderr]).toEqual([
      7,
      expect.stringContaining('2 archives sent again'),
      expect.stringContaining(`its copy ${copy} was changed on this disk. Replace the copy by blobs/${second.sha256}`),
    ]);
    expect(await readable()).toEqual([true, false, true]);
  }
  const exported = join(temporaryFolder(), 'export');
  expect((await hub.cli('export', '--email', who.email, exported)).code).toBe(0);
  copyFileSync(join(exported, 'blobs', second.sha256), copy);
  expect(await rotate()).toMatchObject({ code: 0, stdout: expect.stringContaining('3 archives sent again') });
  expect(await readable()).toEqual([true, true, true]);
}, 300_000);

test('[MIR-20] a changed copy that the hub has under the new credential already, or that is removed, is no damage', async () => {
  const all = await threeArchives(4096);
  const copies = await killedAt(all, isUpload, 'after');
  const [first, second] = all.archives;
  if (first === undefined || second === undefined) throw new Error('there are three');
  writeFileSync(join(copies, first.sha256), '');
  rmSync(join(copies, second.sha256));
  expect((await all.rotate()).code).toBe(0);
  expect(await all.readable()).toEqual([true, false, true]);
}, 300_000);

test('[MIR-20] a copy that was changed before the credential is replaced is downloaded again', async () => {
  const all = await threeArchives(4096);
  const copies = await killedAt(all, isRotation, 'before');
  for (const { sha256 } of all.archives.slice(1)) writeFileSync(join(copies, sha256), '');
  expect((await all.rotate()).code).toBe(0);
  expect(await all.readable()).toEqual([true, true, true]);
}, 300_000);
