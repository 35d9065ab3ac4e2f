/** Disks that run full under a backup command: it says which folder, what to do, and nothing about the backup. */
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type BackupMachine, backupMachine, commitFile, testRepository } from '../../support/backup-machine.ts';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { canUnshare } from '../../support/small-disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;
const hub = useHub();
let machine: BackupMachine;
let repository = '';
/** Where the small disk is mounted, and where its files are counted afterwards. */
const small = temporaryFolder();

beforeAll(async () => {
  machine = backupMachine(hub, await account(hub));
  await machine.cairn('init');
  repository = testRepository(4 * MiB, 'certificates').folder;
  // Packed it is small: on the larger disks below, it is git that finds no room, as it checks the files out.
  commitFile(repository, 'zeros', '0'.repeat(8 * MiB));
  expect((await machine.cairnIn(repository, 'push')).code).toBe(0);
});

/** Runs a backup command where `small` is a disk of so many KiB, which also tells what is left on it. */
async function onDiskOf(kib: number, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const script = `mount -t tmpfs -o size=${kib}k tmpfs "${small}" && "$@"; code=$?; find "${small}" -mindepth 1 >&2; exit $code`;
  return await runCairn(['backups', ...args], { ...machine.env, ...env }, '', [
    'unshare',
    '-rm',
    'sh',
    '-c',
    script,
    'sh',
  ]);
}

const temporaryFull = `cairn: the disk of the temporary files is full (${small}). Free some space there, or set TMPDIR to a folder on another disk.\n`;
const outputFull = `cairn: the disk of ${small} is full, so nothing was restored. Free some space, or choose another disk with --output.\n`;

test.runIf(canUnshare).each([4, 1024])(
  '[MIR-24] a push whose temporary files fill a disk of %i KiB is no matter of the repository: exit code 8, and the next step works',
  async (kib) => {
    const args = ['push', '--repository', repository, '--again'];
    const pushed = await onDiskOf(kib, args, { TMPDIR: small });
    expect(pushed).toEqual({ code: 8, stdout: '', stderr: temporaryFull });
    expect((await runCairn(['backups', ...args], { ...machine.env, TMPDIR: temporaryFolder() })).code).toBe(0);
  },
);

test.runIf(canUnshare).each([1024, 7168, 12_288])(
  '[MIR-24] a pull onto a disk of %i KiB is no damage of the backup, wherever the disk ends: exit code 8',
  async (kib) => {
    const args = ['pull', '--repository', 'certificates', '--output', join(small, 'out')];
    expect(await onDiskOf(kib, args)).toEqual({ code: 8, stdout: '', stderr: outputFull });
  },
);

test.runIf(canUnshare)('[MIR-24] an encrypted archive that finds no room says so and leaves nothing', async () => {
  const args = ['pull', '--encrypted', '--repository', 'certificates', '--output', join(small, 'a.age')];
  expect(await onDiskOf(1024, args)).toEqual({ code: 8, stdout: '', stderr: outputFull });
});

test.runIf(canUnshare).each([1024, 12_288])(
  '[MIR-23, MIR-24] a drill on a disk of %i KiB records no failed restore: the disk says nothing about the backup',
  async (kib) => {
    const drilled = await onDiskOf(kib, ['drill'], { TMPDIR: small });
    expect(drilled).toEqual({ code: 8, stdout: '', stderr: temporaryFull });
  },
);
