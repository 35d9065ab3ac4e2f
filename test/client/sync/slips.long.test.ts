/** Slips of a person at a shell: a name from another folder, an empty option, a file that is nowhere. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { syncedPair, textsOf } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** Runs the command in a folder. */
function inFolder(folder: string, ...args: string[]) {
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder() };
  return runCairn(args, env, '', ['env', '-C', folder]);
}

/** Runs a printed command as if pasted into a shell in a folder. */
function paste(folder: string, command: string) {
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: temporaryFolder(), FOLDER: folder };
  const shell = 'cd "$FOLDER" && node=$0 && main=$1 && cairn() { "$node" "$main" "$@"; }';
  return runCairn([], env, '', ['sh', '-c', `${shell} && ${command}`]);
}

test('[CLI-2] a file is named as it is from where the command runs, or as commands print it', async () => {
  const [a, b] = await syncedPair(hub, key, { 'sub/one.md': '1\n', 'sub/two.md': '2\n', 'one.md': 'top\n' });
  for (const name of ['one', 'two']) {
    a.write(`sub/${name}.md`, 'of a\n');
    b.write(`sub/${name}.md`, 'of b\n');
  }
  await a.sync();
  expect(await b.sync()).toMatchObject({ code: 3 });
  const sub = b.at('sub');
  const settled = await inFolder(sub, 'sync', 'resolve', 'one.md', '--keep', 'theirs');
  // The other one still waits.
  const told =
    /^pulled {4}sub\/one\.md {2}\(settled: theirs; to undo: (cairn sync restore sub\/one\.md --seq c-\S+)\)\n$/;
  expect(settled).toMatchObject({ code: 3, stdout: expect.stringMatching(told) });
  const command = told.exec(settled.stdout)?.[1] ?? '';
  expect(await inFolder(sub, 'sync', 'resolve', 'sub/two.md', '--keep', 'mine')).toMatchObject({ code: 0 });
  for (const name of ['one.md', 'sub/one.md']) {
    expect((await inFolder(sub, 'sync', 'diff', name)).stdout).toContain('sub/one.md is the same');
  }
  expect((await inFolder(b.folder, 'sync', 'diff', 'one.md')).stdout).toMatch(/^one\.md is the same/);
  // The side that was not chosen is in the history, and the printed command takes it.
  expect((await inFolder(sub, 'sync', 'history', 'one.md')).stdout).toContain('not chosen, ');
  expect(await paste(b.folder, command)).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(b.read('sub/one.md')).toBe('of b\n');
  // A file that is only on the hub.
  a.write('sub/only there.md', 'there\n');
  await a.sync();
  expect(await inFolder(sub, 'sync', 'history', 'only there.md')).toMatchObject({ code: 0 });
}, 180_000);

test('[CLI-2] whoever restores a file that is left out here is told how to get it, and not to sync', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n', 'drafts/x.md': 'first\n' }, { isShared: false });
  for (const path of ['one.md', 'drafts/x.md']) a.write(path, 'second\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  a.write('.cairnignore', 'drafts/\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  const one = await inFolder(a.folder, 'sync', 'restore', 'one.md');
  expect([one.code, one.stdout]).toEqual([0, expect.stringContaining('run `cairn sync` to bring the change')]);
  const left = await inFolder(a.folder, 'sync', 'restore', 'drafts/x.md');
  expect([left.code, left.stdout]).toEqual([0, expect.not.stringContaining('run `cairn sync`')]);
  const command = /no sync brings it into the folder; `(.*)` prints it/.exec(left.stdout)?.[1] ?? '';
  expect((await paste(a.folder, command)).stdout).toBe('first\n');
}, 180_000);

test('[CLI-2] a file that is nowhere is told in words of the command', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n' }, { isShared: false });
  for (const command of [['history'], ['diff'], ['restore']]) {
    const { code, stderr } = await inFolder(a.folder, 'sync', ...command, 'nowhere.md');
    expect([code, stderr]).toEqual([1, 'cairn: nowhere.md is not on the hub; `cairn sync list` shows the files.\n']);
  }
}, 180_000);

test('[CLI-2] a choice of files that is empty is refused, and the choice before stays', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n' }, { isShared: false });
  const refused = await inFolder(a.folder, 'sync', '--only', '');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("--only is empty; name a pattern, or '*' for everything");
  a.write('two.md', '2\n');
  expect((await a.sync()).stdout).toContain('two.md');
}, 180_000);

test('[CLI-2] a folder without a vault is told which vaults there are', async () => {
  const folder = join(temporaryFolder(), 'new');
  mkdirSync(folder);
  const { mcp_key: other } = await account(hub);
  await syncedPair(hub, other, { 'one.md': '1\n' }, { isShared: false });
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: other, XDG_CONFIG_HOME: temporaryFolder() };
  const { code, stderr } = await runCairn(['sync', '--folder', folder], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^cairn: name a vault with --vault\. There is: vault [0-9a-f]{8}\.\n$/);
}, 180_000);

test('[CLI-2, SYN-24] the command that a message proposes works as it is printed, also from outside the folder', async () => {
  const names = ['-rf', "it's $HOME `x`.md", 'plain.md'];
  const [a, b] = await syncedPair(hub, key, Object.fromEntries(names.map((name) => [name, '1\n'])));
  for (const name of names) {
    a.write(name, 'of a\n');
    b.write(name, 'of b\n');
  }
  await a.sync();
  const outside = temporaryFolder();
  const met = await inFolder(outside, 'sync', '--folder', b.folder);
  const printed = [...met.stderr.matchAll(/Choose a side: (.*) \(or/g)].map(([, command]) => command ?? '');
  expect([met.code, printed.length]).toEqual([3, names.length]);
  for (const command of printed) {
    const { stdout, stderr } = await paste(outside, command);
    expect([stdout, stderr]).toEqual([
      expect.stringContaining('settled: mine'),
      expect.not.stringMatching(/not found/),
    ]);
  }
  expect(await a.sync()).toMatchObject({ code: 0 });
  for (const name of names) expect(a.read(name)).toBe('of b\n');

  for (const name of names) b.remove(name);
  const emptied = await inFolder(outside, 'sync', '--folder', b.folder);
  const back = /To get the files back, run `(.*)`/.exec(emptied.stderr)?.[1] ?? '';
  expect(await paste(outside, back)).toMatchObject({ code: 0 });
  for (const name of names) expect(b.read(name)).toBe('of b\n');
}, 180_000);

test('[CLI-2] a file of a synced folder is found by its path from outside', async () => {
  const [a] = await syncedPair(hub, key, { 'sub/one.md': '1\n' }, { isShared: false });
  const [other] = await syncedPair(hub, key, { 'one.md': 'other\n' }, { isShared: false });
  for (const from of [temporaryFolder(), other.folder]) {
    const { code, stdout } = await inFolder(from, 'sync', 'diff', a.at('sub/one.md'));
    expect([code, stdout]).toEqual([0, 'sub/one.md is the same here and on the hub\n']);
  }
  const folder = await inFolder(a.folder, 'sync', 'history', 'sub');
  expect([folder.code, folder.stderr]).toEqual([1, expect.stringContaining('sync restore --folder sub --at TIME')]);
  const named = await inFolder(temporaryFolder(), 'sync', a.folder);
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining(`cairn sync --folder ${a.folder}`)]);
  const none = await inFolder(a.folder, 'sync', 'restore', 'sub/one.md', '--seq', '999');
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('`cairn sync history sub/one.md`')]);
}, 180_000);

test('[SYN-24] diff reads nothing outside the folder, and tells what it cannot compare', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n', zeros: 'x' }, { isShared: false });
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret.txt'), 'the secret\n');
  symlinkSync(outside, a.at('link'));
  symlinkSync(join(outside, 'secret.txt'), a.at('secret.txt'));
  execFileSync('sh', ['-c', 'mkfifo "$0"', a.at('pipe')]);
  a.write('big', '');
  truncateSync(a.at('big'), 3 * 2 ** 30);
  a.write('sub/two.md', '2\n');
  for (const name of ['link/secret.txt', 'secret.txt', 'pipe', 'big', 'sub']) {
    const { code, stdout, stderr } = await inFolder(a.folder, 'sync', 'diff', name);
    expect([name, code, stdout]).toEqual([name, 1, '']);
    expect(stderr).toMatch(/^cairn: .*(is not synced\.|is a folder\.|there is no line diff of it\.).*\n$/);
  }
  // Zeros are text, six times as long in JSON.
  truncateSync(a.at('zeros'), 9 * 2 ** 20);
  expect(await inFolder(a.folder, 'sync', 'diff', 'zeros')).toMatchObject({ code: 0 });
}, 180_000);

test('[CLI-2] --json prints JSON, whatever the command does', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n' }, { isShared: false });
  a.write('one.md', '2\n');
  for (const line of [
    'sync',
    'sync restore one.md --dry-run',
    'sync pause',
    'sync status',
    'sync resume',
    'sync log',
  ]) {
    const { code, stdout } = await inFolder(a.folder, ...line.split(' '), '--json');
    expect([line, code, Object.keys(JSON.parse(stdout)).length > 0]).toEqual([line, 0, true]);
    if (line === 'sync status') expect(JSON.parse(stdout)).toMatchObject({ paused: true });
  }
}, 180_000);

test('[SYN-27] an undo shows the moment before a burst, and goes back to it with --yes', async () => {
  const names = ['one.md', 'two.md', 'three.md', 'four.md'];
  const [a] = await syncedPair(hub, key, Object.fromEntries(names.map((name) => [name, `${name}\n`])), {
    isShared: false,
  });
  for (const name of names.slice(0, 2)) a.write(name, 'ENCRYPTED\n');
  a.remove('three.md');
  expect(await a.sync()).toMatchObject({ code: 0 });
  // The first push came less than a minute before, and is not undone with it: four.md stays.
  const undo = (...args: string[]) => inFolder(a.folder, 'sync', 'undo', '--last', '1h', ...args);
  const shown = await undo();
  expect([shown.code, shown.stdout.match(/would .*/g)?.toSorted()]).toEqual([
    0,
    ['would restore one.md', 'would restore three.md', 'would restore two.md'],
  ]);
  expect(shown.stdout).toContain('run it again with --yes --confirm 3\n');
  expect(await a.sync()).toMatchObject({ stdout: 'up to date\n' });
  for (const confirm of [[], ['--confirm', '2']]) {
    const asked = await undo('--yes', ...confirm);
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('To do it, add --confirm 3.')]);
  }
  expect(await a.sync()).toMatchObject({ stdout: 'up to date\n' });
  expect(await undo('--yes', '--confirm', '3')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual(Object.fromEntries(names.map((name) => [name, `${name}\n`])));
}, 180_000);

test('[SYN-27] a first push alone can be undone, after a second question', async () => {
  const [a] = await syncedPair(hub, key, { 'one.md': '1\n', 'two.md': '2\n' }, { isShared: false });
  const asked = await inFolder(a.folder, 'sync', 'undo', '--last', '1h', '--yes');
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('restore 0 files and delete 2')]);
  const done = await inFolder(a.folder, 'sync', 'undo', '--last', '1h', '--yes', '--confirm', '2');
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('deleted one.md') });
}, 180_000);
