/** The commands over vaults and over what the hub keeps of a folder: list, log, history, diff, restore. */
import { beforeAll, expect, test } from 'vitest';
import { type CommandResult, runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { syncedFolder } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let env: Record<string, string>;
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
  env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder(), TZ: 'UTC' };
});

const cairn = (...args: string[]): Promise<CommandResult> => runCairn(args, env);

test('[CLI-2] vaults are created, listed, renamed, and deleted once the name is confirmed', async () => {
  expect((await cairn('vault', 'create', 'notse')).stdout).toMatch(/^created notse; sync a folder with it/);
  expect((await cairn('vault', 'rename', 'notse', 'old notes')).stdout).toBe('renamed notse to old notes\n');
  expect((await cairn('vault', 'list')).stdout).toMatch(/^old notes +0 files, 0 B, never synced$/m);
  const missing = await cairn('vault', 'delete', 'old note');
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean old notes?') });
  const asked = await cairn('vault', 'delete', 'old notes');
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('--confirm') });
  expect(await cairn('vault', 'delete', 'old notes', '--confirm', 'old')).toMatchObject({ code: 1 });
  const deleted = await cairn('vault', 'delete', 'old notes', '--confirm', 'old notes');
  expect(deleted).toMatchObject({ code: 0, stdout: 'deleted old notes and 0 files with all versions\n' });
  expect((await cairn('vault', 'list', '--json')).stdout).not.toContain('old notes');
});

test('[CLI-2] list, log, history and diff show what the hub has of a folder, named or found around the current one', async () => {
  const place = syncedFolder(hub, key, 'looked into');
  place.write('notes/a.md', 'one\n');
  place.write('b.md', 'b\n');
  await place.sync();
  place.write('notes/a.md', 'two\n');
  await place.sync();
  const at = ['--folder', place.folder];
  const list = await cairn('sync', 'list', ...at);
  expect(list).toMatchObject({ code: 0, stderr: '' });
  expect(list.stdout).toMatch(/4 B +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +notes\/a\.md\n2 files, 6 B\n$/);
  expect((await cairn('sync', 'list', 'notes/', '--vault', 'looked into')).stdout).toMatch(/1 file, 4 B\n$/);
  expect((await cairn('sync', 'log', ...at)).stdout).toMatch(/changed +notes\/a\.md .*\n.*changed +b\.md/);
  const history = await cairn('sync', 'history', 'notes/a.md', ...at);
  expect(history.stdout).toMatch(/^#3 .*updated.*\n#\d .*created/);
  expect((await cairn('sync', 'diff', 'notes/a.md', ...at)).stdout).toContain('the same here and on the hub');
  place.write('notes/a.md', 'three\n');
  expect((await cairn('sync', 'diff', 'notes/a.md', ...at)).stdout).toMatch(/-two\n\+three/);
  const elsewhere = await cairn('sync', 'list', '--folder', temporaryFolder());
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('not in a synced folder') });
  const unknown = await cairn('sync', 'history', 'no.md', ...at);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('is not on the hub') });
});

test('[CLI-2] a file goes back a version, to a number or to a time; a folder goes back to a time', async () => {
  const place = syncedFolder(hub, key, 'restored');
  place.write('docs/a.md', 'one\n');
  place.write('other.md', 'kept\n');
  await place.sync();
  const { files } = JSON.parse((await cairn('sync', 'list', '--json', '--folder', place.folder)).stdout) as {
    files: { path: string; seq: number; stored_at: string }[];
  };
  const first = files.find(({ path }) => path === 'docs/a.md');
  const before =
    files
      .map(({ stored_at: at }) => at)
      .sort()
      .at(-1) ?? '';
  place.write('docs/a.md', 'two\n');
  place.write('docs/new.md', 'later\n');
  place.write('other.md', 'changed\n');
  await place.sync();
  const at = ['--folder', place.folder];
  const restored = await cairn('sync', 'restore', 'docs/a.md', ...at);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('run `cairn sync --folder ') });
  await place.sync();
  expect(place.read('docs/a.md')).toBe('one\n');
  const again = await cairn('sync', 'restore', 'docs/a.md', '--seq', String(first?.seq), ...at);
  expect(again.stdout).toContain('already has the content');
  const never = await cairn('sync', 'restore', 'docs/a.md', '--at', '2001-02-03', ...at);
  expect(never).toMatchObject({ code: 1, stderr: expect.stringContaining('did not exist on the hub at 2001-02-03') });
  const plan = await cairn('sync', 'restore', '--at', before, '--dry-run', '--folder', place.at('docs'));
  expect(plan.stdout).toBe('would delete docs/new.md\n');
  const whole = await cairn('sync', 'restore', '--at', before, ...at);
  expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining('1 file restored, 1 file deleted') });
  await place.sync();
  expect(place.read('other.md')).toBe('kept\n');
  expect(place.has('docs/new.md')).toBe(false);
  const slip = await cairn('sync', 'restore', '--at', '2001-02-03', ...at);
  expect(slip).toMatchObject({ code: 1, stderr: expect.stringContaining('2 of 2 files did not exist at 2001-02-03') });
  expect((await cairn('sync', 'list', ...at)).stdout).toContain('other.md');
  const word = await cairn('sync', 'restore', '--at', '2001-02-03', '--allow-deletes', ...at);
  expect(word).toMatchObject({ code: 0, stdout: expect.stringContaining('2 files deleted') });
  expect(await cairn('sync', 'restore', ...at)).toMatchObject({ code: 2 });
  expect(await cairn('sync', 'restore', '--at', 'soon', ...at)).toMatchObject({ code: 2 });
});

test('[CLI-2] every conflict of a folder is settled in one command', async () => {
  const [a, b] = [syncedFolder(hub, key, 'many conflicts'), syncedFolder(hub, key, 'many conflicts')];
  for (const name of ['x', 'y']) {
    a.write(name, 'from a\n');
    b.write(name, 'from b\n');
  }
  await a.sync();
  expect(await b.sync()).toMatchObject({ code: 3 });
  expect(await b.sync('resolve', '--keep', 'mine')).toMatchObject({ code: 2 });
  expect(await b.sync('resolve', 'x', '--all', '--keep', 'mine')).toMatchObject({ code: 2 });
  expect(await b.sync('resolve', '--all', '--keep', 'mine')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect([a.read('x'), a.read('y')]).toEqual(['from b\n', 'from b\n']);
});
