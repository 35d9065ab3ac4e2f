/** What a person chooses in a conflict, and a folder that is called with another vault. */
import { readdirSync } from 'node:fs';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Hub, startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { syncedFolder, syncedPair } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
const LARGE_BYTES = 11 * 1024 * 1024;
const QUOTA_BYTES = 10_000;
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** The same files changed on both sides. */
async function conflicting(
  files: Readonly<Record<string, readonly [string | Buffer, string | Buffer, string | Buffer]>>,
  on: { readonly hub: Hub; readonly key: string } = { hub, key },
) {
  const [a, b] = await syncedPair(
    on.hub,
    on.key,
    Object.fromEntries(Object.entries(files).map(([path, [base]]) => [path, base])),
  );
  for (const [path, [, theirs, mine]] of Object.entries(files)) {
    a.write(path, theirs);
    b.write(path, mine);
  }
  expect(await a.sync()).toMatchObject({ code: 0 });
  const met = await b.sync();
  expect(met).toMatchObject({ code: 3 });
  return { a, b, met };
}

test('[SYN-30] a file that still has the markers of --keep merge is not kept as mine: other devices would get them', async () => {
  const { a, b } = await conflicting({ 'n.md': ['one\n', 'theirs\n', 'mine\n'] });
  expect(await b.sync('resolve', 'n.md', '--keep', 'merge')).toMatchObject({ code: 3 });
  const marked = b.read('n.md');
  expect(marked).toContain('<<<<<<< ');
  for (const keep of ['mine', 'both']) {
    expect(await b.sync('resolve', 'n.md', '--keep', keep)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/n\.md still has conflict markers, at line 1\. .*sync resolve n\.md --keep mine/),
    });
  }
  // Again after a sync, which counts what is here as the side of this device.
  expect(await b.sync()).toMatchObject({ code: 3 });
  expect(await b.sync('resolve', '--all', '--keep', 'mine')).toMatchObject({ code: 1 });
  expect(b.read('n.md')).toBe(marked);
  await a.sync();
  expect(a.read('n.md')).toBe('theirs\n');
  b.write('n.md', 'both\n');
  expect(await b.sync('resolve', 'n.md', '--keep', 'mine')).toMatchObject({ code: 0 });
  await a.sync();
  expect(a.read('n.md')).toBe('both\n');
}, 120_000);

test('[SYN-30] an edit of a file in conflict for which the hub has no room is still here when the other side was chosen', async () => {
  const small = await startHub({ env: { CAIRN_SYNC_QUOTA_BYTES: String(QUOTA_BYTES) } });
  onTestFinished(() => small.stop().then(() => undefined));
  const { mcp_key } = await account(small);
  const { b } = await conflicting({ 'n.md': ['one\n', 'theirs\n', 'mine\n'] }, { hub: small, key: mcp_key });
  const edit = 'mine, edited\n'.repeat(QUOTA_BYTES / 4);
  b.write('n.md', edit);
  expect(await b.sync()).toMatchObject({ code: 3, stdout: expect.stringContaining('the hub refused ours') });
  expect(await b.sync('resolve', 'n.md', '--keep', 'theirs')).not.toMatchObject({ code: 0 });
  expect(b.read('n.md') === edit).toBe(true);
  // What was on the hub is still settled as such.
  b.write('n.md', 'mine\n');
  expect(await b.sync('resolve', 'n.md', '--keep', 'theirs')).toMatchObject({ code: 0 });
  expect(b.read('n.md')).toBe('theirs\n');
}, 120_000);

test('[SYN-30] a text about markers of git is a text like any other', async () => {
  const about = '<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> branch\n';
  const { a, b } = await conflicting({ 'git.md': ['one\n', 'theirs\n', about] });
  expect(await b.sync('resolve', 'git.md', '--keep', 'mine')).toMatchObject({ code: 0 });
  await a.sync();
  expect(a.read('git.md')).toBe(about);
}, 120_000);

test('[SYN-30] --keep both leaves the hub’s side under its name and mine beside it, on every device', async () => {
  const [base, theirs, mine] = ['a', 'b', 'c'].map((letter) => Buffer.alloc(LARGE_BYTES, letter));
  const { a, b, met } = await conflicting({
    'p/n.md': ['one\n', 'theirs\n', 'mine\n'],
    'p/photo.bin': [base ?? '', theirs ?? '', mine ?? ''],
  });
  expect(met.stderr).toMatch(/n\.md --keep mine .*\(or --keep theirs, or --keep both, or --keep merge\)\. Or merge/);
  // Bytes are not merged, so nobody is told to.
  expect(met.stderr).toMatch(/photo\.bin --keep mine .*\(or --keep theirs, or --keep both\)\. /);
  const one = await b.sync('resolve', 'p/n.md', '--keep', 'both');
  expect(one).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(
      /pulled {4}p\/n\.md {2}\(settled: both; yours is p\/n \(conflict .*\)\.md; to undo: rename it to p\/n\.md\)/,
    ),
  });
  expect(await b.sync('resolve', '--all', '--keep', 'both')).toMatchObject({ code: 0, stderr: '' });
  expect(await b.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  expect(await a.sync()).toMatchObject({ code: 0 });
  for (const device of [a, b]) {
    const names = readdirSync(device.at('p'));
    expect(names.sort()).toEqual([
      expect.stringMatching(/^n \(conflict .*\)\.md$/),
      'n.md',
      expect.stringMatching(/^photo \(conflict .*\)\.bin$/),
      'photo.bin',
    ]);
    expect(names.map((name) => device.read(`p/${name}`)[0])).toEqual(['m', 't', 'c', 'b']);
  }
  const pending = await b.call('list', '--in=conflicts');
  expect(pending).toMatchObject({ code: 0, stdout: expect.not.stringContaining('p/') });
  // As the line says.
  const copy = readdirSync(b.at('p')).find((name) => name.startsWith('n (')) ?? '';
  b.rename(`p/${copy}`, 'p/n.md');
  for (const device of [b, a]) expect(await device.sync()).toMatchObject({ code: 0, stderr: '' });
  expect([a.read('p/n.md'), readdirSync(a.at('p')).length]).toEqual(['mine\n', 3]);
}, 120_000);

test('[CLI-2] a folder that is called with another vault makes no vault, also when its own was renamed', async () => {
  const vault = `first ${Date.now()}`;
  const a = syncedFolder(hub, key, vault);
  a.write('n.md', 'one\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  const listed = async () => (await a.call('vault_list')).stdout;
  const before = await listed();
  const other = syncedFolder(hub, key, 'quite another', a.folder);
  for (const args of [[], ['pull'], ['watch'], ['status', '--compare']]) {
    expect(await other.sync(...args), args.join(' ')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('belongs to another vault'),
    });
  }
  expect(await listed()).toBe(before);
  const [, id = ''] = /(v_[0-9a-f]+) first/.exec(before) ?? [];
  expect(await a.call('vault_rename', `--vault_id=${id}`, '--name=renamed')).toMatchObject({ code: 0 });
  a.write('n.md', 'two\n');
  expect(await a.sync()).toMatchObject({ code: 0, stdout: expect.stringContaining('pushed') });
  expect(await listed()).not.toContain(vault);
}, 120_000);
