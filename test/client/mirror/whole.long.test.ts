/** The whole repository comes back, full and by increments: refs of any kind, what git archive leaves out, LFS, submodules. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type BackupMachine,
  backupMachine,
  commitFile,
  contentsOf,
  gitIn,
  refsOf,
  testRepository,
} from '../../support/backup-machine.ts';
import { account } from '../../support/mirror.ts';
import { succeeds } from '../../support/succeeds.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;

const hub = useHub();

async function ready(): Promise<BackupMachine> {
  const machine = backupMachine(hub, await account(hub));
  await machine.cairn('init');
  return machine;
}

interface Pushed {
  readonly status: string;
  readonly kind?: string;
  readonly parts?: number;
  readonly bytes?: number;
  readonly left_out?: readonly string[];
}

async function push(machine: BackupMachine, folder: string, ...options: string[]): Promise<Pushed> {
  const pushed = await machine.cairnIn(folder, 'push', '--json', ...options);
  expect(pushed).toMatchObject({ code: 0 });
  return JSON.parse(pushed.stdout) as Pushed;
}

/** Restores this folder's newest backup, and holds it against the folder. */
async function proven(
  machine: BackupMachine,
  folder: string,
): Promise<{ readonly output: string; readonly archives: number }> {
  const output = join(temporaryFolder(), 'restored');
  const pulled = await machine.cairnIn(folder, 'pull', '--output', output, '--json');
  expect(pulled).toMatchObject({ code: 0 });
  expect(refsOf(output)).toBe(refsOf(folder));
  expect(gitIn(output, 'status', '--porcelain')).toBe('');
  expect(gitIn(output, 'fsck', '--strict', '--no-dangling')).toBe('');
  return { output, archives: (JSON.parse(pulled.stdout) as { archives: number }).archives };
}

test('[MIR-22] every kind of ref comes back from a chain of increments, and a push without a change uploads nothing', async () => {
  const machine = await ready();
  const { folder, commit } = testRepository(200_000, 'refs');
  expect(await push(machine, folder)).toMatchObject({ status: 'stored', kind: 'full' });
  expect(await push(machine, folder)).toMatchObject({ status: 'existing' });

  const steps: (() => void)[] = [
    () => void commitFile(folder, 'a.txt', 'a\n'),
    () => void gitIn(folder, 'tag', '--annotate', 'on-an-old-commit', commit, '--message', 'release'),
    () => void gitIn(folder, 'tag', 'light', commit),
    () => void gitIn(folder, 'notes', 'add', '--message', 'a note', commit),
    () => void gitIn(folder, 'branch', 'feature/x', commit),
    () => {
      gitIn(folder, 'checkout', '--quiet', 'feature/x');
      commitFile(folder, 'x.txt', 'x\n');
      gitIn(folder, 'checkout', '--quiet', 'main');
    },
    () => {
      gitIn(folder, 'branch', '--delete', '--force', 'feature/x');
      gitIn(folder, 'branch', 'feature', commit);
    },
    () => {
      gitIn(folder, 'checkout', '--quiet', '--orphan', 'pages');
      commitFile(folder, 'page.html', '<p>\n');
      gitIn(folder, 'checkout', '--quiet', 'main');
      gitIn(folder, 'merge', '--quiet', '--allow-unrelated-histories', '--no-edit', 'pages');
    },
    () => {
      writeFileSync(join(folder, 'a.txt'), 'stashed\n');
      gitIn(folder, 'stash');
    },
    () => void gitIn(folder, 'branch', '--move', 'main', 'trunk'),
    () => {
      gitIn(folder, 'reset', '--quiet', '--hard', 'HEAD~1');
      commitFile(folder, 'rewritten.txt', 'history\n');
    },
    () => void gitIn(folder, 'update-ref', 'refs/tags/a-blob', gitIn(folder, 'rev-parse', `${commit}:renew.sh`)),
    () => void gitIn(folder, 'checkout', '--quiet', '--detach', commit),
  ];
  for (const [index, step] of steps.entries()) {
    step();
    expect(await push(machine, folder), `step ${index}`).toMatchObject({ status: 'stored', kind: 'increment' });
    expect(await push(machine, folder), `step ${index}`).toMatchObject({ status: 'existing' });
  }
  const { output, archives } = await proven(machine, folder);
  expect(archives).toBe(steps.length + 1);
  expect(gitIn(output, 'notes', 'show', commit)).toBe('a note');
  // Any earlier backup is still there.
  const first = join(temporaryFolder(), 'first');
  expect((await machine.cairn('pull', '--commit', commit, '--output', first)).code).toBe(0);
}, 600_000);

test('[MIR-22] a CI job with a fresh clone and only the public key uploads increments on what others uploaded', async () => {
  const machine = await ready();
  const { folder } = testRepository(2 * MiB, 'project');
  await push(machine, folder);
  const stored = JSON.parse(readFileSync(join(machine.config, 'cairn', 'mirror.json'), 'utf8')) as {
    servers: Record<string, { token: string; hmac_secret: string; recipients: string[] }>;
  };
  const { token = '', hmac_secret = '', recipients = [] } = stored.servers[hub.url] ?? {};
  const env = { CAIRN_MIRROR_TOKEN: token, CAIRN_MIRROR_SECRET: hmac_secret, CAIRN_KEY: '0'.repeat(64) };
  const ci = backupMachine(hub, await account(hub), env);
  const again = () => {
    const clone = join(temporaryFolder(), 'project');
    gitIn(temporaryFolder(), 'clone', '--quiet', '--mirror', folder, clone);
    gitIn(clone, 'remote', 'remove', 'origin');
    return clone;
  };
  const options = ['--recipient', recipients.join(',')];
  expect(await push(ci, again(), ...options)).toMatchObject({ status: 'existing' });
  commitFile(folder, 'new.txt', 'new\n');
  const pushed = await push(ci, again(), ...options);
  expect(pushed).toMatchObject({ status: 'stored', kind: 'increment' });
  expect(pushed.bytes).toBeLessThan(64 * 1024);
  await proven(machine, folder);
}, 300_000);

test('[MIR-22] what git archive leaves out comes back: export-ignore, links, modes; and a renamed folder is the same repository', async () => {
  const machine = await ready();
  const { folder } = testRepository(4096, 'library');
  writeFileSync(join(folder, '.gitattributes'), 'secret.txt export-ignore\n');
  symlinkSync('renew.sh', join(folder, 'link'));
  commitFile(folder, 'secret.txt', 'kept\n');
  await push(machine, folder);
  const renamed = `${folder}-renamed`;
  renameSync(folder, renamed);
  const { output } = await proven(machine, renamed);
  expect(contentsOf(output)).toEqual(contentsOf(renamed));
  expect(readFileSync(join(output, 'secret.txt'), 'utf8')).toBe('kept\n');
}, 300_000);

test('[MIR-22] a backup above one upload is split and joined; an upload that ended half way is skipped', async () => {
  const machine = await ready();
  const { folder } = testRepository(70 * MiB, 'large');
  expect(await push(machine, folder)).toMatchObject({ status: 'stored', kind: 'full', parts: 2 });
  expect(await push(machine, folder)).toMatchObject({ status: 'existing' });
  commitFile(folder, 'small.txt', 'small\n');
  expect(await push(machine, folder)).toMatchObject({ kind: 'increment', parts: 1 });
  expect((await proven(machine, folder)).archives).toBe(3);
}, 600_000);

test('[MIR-22] a shallow clone comes back shallow, says so, and is full once deepened', async () => {
  const machine = await ready();
  const { folder } = testRepository(4096, 'origin');
  for (let i = 0; i < 5; i += 1) commitFile(folder, 'a.txt', `${i}\n`);
  const clone = join(temporaryFolder(), 'shallow');
  gitIn(temporaryFolder(), 'clone', '--quiet', '--depth', '2', `file://${folder}`, clone);
  const pushed = await push(machine, clone);
  expect(pushed.left_out?.[0]).toContain('git fetch --unshallow');
  const { output } = await proven(machine, clone);
  expect(gitIn(output, 'rev-list', '--count', 'HEAD')).toBe('2');
  commitFile(clone, 'b.txt', 'b\n');
  expect(await push(machine, clone)).toMatchObject({ kind: 'increment' });
  gitIn(clone, 'fetch', '--quiet', '--deepen', '1');
  expect(await push(machine, clone)).toMatchObject({ kind: 'full' });
  expect(gitIn((await proven(machine, clone)).output, 'rev-list', '--count', 'HEAD')).toBe('4');
}, 300_000);

test('[MIR-22] submodules, nested ones too, come back with their history, or the backup says that it lacks them', async () => {
  const machine = await ready();
  const [top, middle, inner] = ['top', 'middle', 'inner'].map((name) => testRepository(4096, name).folder) as [
    string,
    string,
    string,
  ];
  gitIn(middle, 'submodule', '--quiet', 'add', inner, 'vendor/inner');
  gitIn(middle, 'commit', '--quiet', '--message', 'inner');
  gitIn(top, 'submodule', '--quiet', 'add', middle, 'libs/middle');
  gitIn(top, 'commit', '--quiet', '--message', 'middle');
  gitIn(top, 'submodule', '--quiet', 'update', '--init', '--recursive');
  expect((await push(machine, top)).left_out).toEqual(['submodule libs/middle; add --submodules']);
  expect(await push(machine, top, '--submodules')).toMatchObject({ left_out: [] });
  rmSync(middle, { recursive: true });
  rmSync(inner, { recursive: true });
  const { output } = await proven(machine, top);
  expect(contentsOf(output)).toEqual(contentsOf(top));
  for (const path of ['libs/middle', 'libs/middle/vendor/inner']) {
    expect(gitIn(join(output, path), 'rev-parse', 'HEAD')).toBe(gitIn(join(top, path), 'rev-parse', 'HEAD'));
  }
  const changed = commitFile(join(top, 'libs/middle'), 'more.txt', 'more\n');
  commitFile(top, 'top.txt', 'top\n');
  expect(await push(machine, top, '--submodules')).toMatchObject({ kind: 'increment' });
  expect(gitIn(join((await proven(machine, top)).output, 'libs/middle'), 'rev-parse', 'HEAD')).toBe(changed);
}, 300_000);

const hasLfs = () => succeeds('git', 'lfs', 'version');

// Without git-lfs on the machine there is nothing to back up: the test is then reported as skipped.
test.skipIf(!hasLfs())(
  '[MIR-22] Git LFS objects come back by choice, or the backup says that it lacks them',
  async () => {
    const machine = await ready();
    const { folder } = testRepository(4096, 'media');
    gitIn(folder, 'lfs', 'install', '--local', '--skip-repo');
    gitIn(folder, 'lfs', 'track', '*.bin');
    writeFileSync(join(folder, 'old.bin'), randomBytes(50_000));
    commitFile(folder, 'a.txt', 'a\n');
    writeFileSync(join(folder, 'old.bin'), randomBytes(60_000));
    commitFile(folder, 'a.txt', 'b\n');
    expect((await push(machine, folder)).left_out?.[0]).toMatch(/^2 Git LFS objects \(107 KiB\); add --lfs$/);
    expect(await push(machine, folder, '--lfs')).toMatchObject({ kind: 'full', left_out: [] });
    writeFileSync(join(folder, 'new.bin'), randomBytes(70_000));
    commitFile(folder, 'a.txt', 'c\n');
    const pushed = await push(machine, folder, '--lfs');
    expect(pushed).toMatchObject({ kind: 'increment' });
    expect(pushed.bytes).toBeLessThan(90_000);
    const output = join(temporaryFolder(), 'restored');
    expect(await machine.cairnIn(folder, 'pull', '--output', output)).toMatchObject({ code: 0 });
    expect(contentsOf(output)).toEqual(contentsOf(folder));
    expect(refsOf(output)).toBe(refsOf(folder));
    expect(gitIn(output, 'lfs', 'fsck')).toContain('OK');
    gitIn(output, 'checkout', '--quiet', 'HEAD~1');
    expect(readFileSync(join(output, 'old.bin')).length).toBe(60_000);
    expect(existsSync(join(output, 'new.bin'))).toBe(false);
  },
  300_000,
);

test('[MIR-22] a linked working tree and a bare repository are backed up too', async () => {
  const machine = await ready();
  const { folder } = testRepository(4096, 'work');
  const linked = join(temporaryFolder(), 'linked');
  gitIn(folder, 'worktree', 'add', '--quiet', linked, '-b', 'side');
  commitFile(linked, 'side.txt', 'side\n');
  await push(machine, linked);
  await proven(machine, linked);
  const bare = join(temporaryFolder(), 'bare.git');
  mkdirSync(bare);
  gitIn(temporaryFolder(), 'clone', '--quiet', '--bare', folder, bare);
  expect(await push(machine, bare)).toMatchObject({ status: 'stored' });
}, 300_000);
