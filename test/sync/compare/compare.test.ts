/** sync_diff and sync_merge through the front door: every status and outcome, binary files, limits, wrong arguments. */
import { beforeAll, expect, test } from 'vitest';
import { call } from '../../support/http.ts';
import { type Device, gitShaOf, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

interface Diff {
  readonly status: string;
  readonly remote: { readonly seq: number; readonly sha256: string | null } | null;
  readonly base_available: boolean;
  readonly diff: string | null;
}

interface Merge {
  readonly path: string;
  readonly content: string | null;
  readonly encoding: string;
  readonly sha256: string | null;
  readonly deleted: boolean;
  readonly has_conflicts: boolean;
  readonly conflict_count: number;
  readonly base_sha: string;
  readonly ancestor_found: boolean;
  readonly ancestor_sha: string | null;
  readonly server_sha256: string | null;
  readonly server_hlc: string | null;
}

const hub = useHub();
let device: Device;
beforeAll(async () => {
  device = await newDevice(hub);
});

const diff = (args: object) => device.result<Diff>('sync_diff', args);
const merge = (args: object) => device.result<Merge>('sync_merge', args);

const FIRST = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const SECOND = FIRST.replace('two', 'zwei');
const OWN = FIRST.replace('six', 'sechs');
const BOTH = SECOND.replace('six', 'sechs');
const CLASHING = FIRST.replace('two', 'deux');
const BINARY = Buffer.from([0, 255, 1, 254]).toString('base64');

let paths = 0;
/** A path whose versions are the given contents. */
async function pathOf(...contents: readonly string[]): Promise<string> {
  paths += 1;
  const path = `compared/${paths}.md`;
  let base = '';
  for (const content of contents) base = (await device.push(path, content, { base_sha: base })).sha256;
  return path;
}

async function deletedPath(...contents: readonly string[]): Promise<string> {
  const path = await pathOf(...contents);
  await device.result('sync_push', device.deleteOf(path, { base_sha: sha256Of(contents.at(-1) ?? '') }));
  return path;
}

/** A delete that met a change: the id of its conflict. */
async function refusedDelete(path: string, base: string): Promise<string> {
  const { data } = await device.refusal('sync_push', device.deleteOf(path, { base_sha: sha256Of(base) }));
  return String(data['conflict_id']);
}

test('[SYN-12] tells how a copy stands, by its content or its hash, and what it was made of', async () => {
  const path = await pathOf(FIRST, SECOND);
  const [first, second, own] = [FIRST, SECOND, OWN].map(sha256Of);
  const status = async (args: object) => (await diff({ path, ...args })).status;
  expect(await status({ content: SECOND })).toBe('identical');
  expect(await status({ sha256: second })).toBe('identical');
  expect(await status({ content: OWN, base_sha: second })).toBe('local_ahead');
  expect(await status({ content: OWN, base_sha: gitShaOf(SECOND) })).toBe('local_ahead');
  expect(await status({ sha256: own, base_sha: second })).toBe('local_ahead');
  expect(await status({ content: FIRST, base_sha: first })).toBe('remote_ahead');
  expect(await status({ content: FIRST, base_sha: gitShaOf(FIRST) })).toBe('remote_ahead');
  expect(await status({ sha256: first })).toBe('remote_ahead');
  expect(await status({ content: OWN, base_sha: first })).toBe('diverged');
  expect(await status({ content: OWN })).toBe('diverged');
  expect(await status({ content: OWN, base_sha: sha256Of('never there') })).toBe('diverged');
  expect(await status({})).toBe('remote_ahead');
  expect(await diff({ path: 'compared/nothing.md', content: OWN })).toMatchObject({
    status: 'missing',
    remote: null,
  });
  expect(await diff({ path: await deletedPath(FIRST), content: OWN })).toMatchObject({
    status: 'deleted',
    remote: { seq: expect.any(Number), sha256: null, git_sha: null, hlc: expect.any(String) },
  });
});

test('[SYN-12] shows the unified diff from the hub to the copy, with as much context as asked', async () => {
  const path = await pathOf(FIRST, SECOND);
  const shown = await diff({ path, content: OWN, base_sha: sha256Of(FIRST) });
  expect(shown).toMatchObject({
    base_available: true,
    remote: { sha256: sha256Of(SECOND), git_sha: gitShaOf(SECOND), size_bytes: SECOND.length, device_id: 'laptop' },
  });
  expect(shown.diff).toBe(
    `--- hub/${path}\n+++ yours/${path}\n@@ -1,7 +1,7 @@\n one\n-zwei\n+two\n three\n four\n five\n-six\n+sechs\n seven\n`,
  );
  const short = await diff({ path, content: OWN, context: 0 });
  expect(short.diff).toBe(`--- hub/${path}\n+++ yours/${path}\n@@ -2 +2 @@\n-zwei\n+two\n@@ -6 +6 @@\n-six\n+sechs\n`);
  expect((await diff({ path, content: SECOND })).diff).toBe('');
});

test('[SYN-12] a version that the hub has is compared by its hash alone; one that it has not is not', async () => {
  const path = await pathOf(FIRST, SECOND);
  const known = await diff({ path, sha256: sha256Of(FIRST), context: 0 });
  expect(known.diff).toBe(`--- hub/${path}\n+++ yours/${path}\n@@ -2 +2 @@\n-zwei\n+two\n`);
  expect((await diff({ path, sha256: sha256Of(OWN) })).diff).toBeNull();
  expect((await diff({ path, content: OWN, base_sha: sha256Of('never there') })).base_available).toBe(false);
});

test('[SYN-12] with only a path it shows what the newest change did', async () => {
  const path = await pathOf('a\n', 'b');
  expect((await diff({ path })).diff).toBe(
    `--- previous/${path}\n+++ hub/${path}\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n`,
  );
  const made = await pathOf('a\n');
  expect((await diff({ path: made })).diff).toBe(`--- /dev/null\n+++ hub/${made}\n@@ -0,0 +1 @@\n+a\n`);
  const gone = await deletedPath('a\n');
  expect(await diff({ path: gone })).toMatchObject({
    status: 'deleted',
    diff: `--- previous/${gone}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`,
  });
  expect(await diff({ path: 'compared/nothing.md' })).toMatchObject({ status: 'missing', diff: '' });
});

test('[SYN-12, SYN-17] binary files differ, or do not', async () => {
  const path = await pathOf(FIRST);
  const shown = await diff({ path, content: BINARY, encoding: 'base64' });
  expect(shown).toMatchObject({ status: 'diverged', diff: `Binary files hub/${path} and yours/${path} differ\n` });
  const same = Buffer.from(FIRST).toString('base64');
  expect(await diff({ path, content: same, encoding: 'base64' })).toMatchObject({ status: 'identical', diff: '' });
});

test('[SYN-12] a text above the limits is not compared by lines', async () => {
  const path = await pathOf(FIRST);
  const large = `${'x'.repeat(1024 * 1024)}\n`;
  expect((await diff({ path, content: large })).diff).toContain('too large to compare');
  expect((await diff({ path, content: 'x\n'.repeat(20_001) })).diff).toContain('too large to compare');
  const most = await diff({ path, content: 'x\n'.repeat(20_000) });
  expect(most.diff).toContain('@@ -1,7 +1,20000 @@');
});

test.each([
  ['path', { path: 'a/../b' }],
  ['content', { path: 'a', content: '\ud800' }],
  ['content', { path: 'a', content: 'no base64!', encoding: 'base64' }],
  ['sha256', { path: 'a', sha256: 'abc' }],
  ['sha256', { path: 'a', content: 'x', sha256: sha256Of('y') }],
  ['base_sha', { path: 'a', base_sha: 'main' }],
  ['context', { path: 'a', context: -1 }],
  ['context', { path: 'a', context: 1001 }],
  ['vault_id', { path: 'a', vault_id: 'v_0000000000000000' }],
  ['encoding', { path: 'a', content: 'x', encoding: 'latin1' }],
])('[SYN-12] a wrong %s is refused by name: %j', async (field, args) => {
  const { code, data } = await device.refusal('sync_diff', args);
  expect([code, data['field']]).toEqual([-32602, field]);
});

test('[SYN-13] merges what both changed apart, and its base_sha is the one to push with', async () => {
  const path = await pathOf(FIRST, SECOND);
  for (const base of [sha256Of(FIRST), gitShaOf(FIRST), sha256Of(FIRST).toUpperCase()]) {
    expect(await merge({ path, content: OWN, base_sha: base })).toMatchObject({
      path,
      content: BOTH,
      encoding: 'utf-8',
      sha256: sha256Of(BOTH),
      deleted: false,
      has_conflicts: false,
      conflict_count: 0,
      base_sha: sha256Of(SECOND),
      ancestor_found: true,
      ancestor_sha: sha256Of(FIRST),
      server_sha256: sha256Of(SECOND),
    });
  }
  const pushed = await device.push(path, BOTH, { base_sha: sha256Of(SECOND) });
  expect(pushed.status).toBe('updated');
});

test('[SYN-13] marks what both changed differently, or settles it for the favored side', async () => {
  const path = await pathOf(FIRST, SECOND);
  const args = { path, content: CLASHING, base_sha: sha256Of(FIRST) };
  const marked = FIRST.replace('two\n', '<<<<<<< yours\ndeux\n=======\nzwei\n>>>>>>> hub\n');
  expect(await merge(args)).toMatchObject({ content: marked, has_conflicts: true, conflict_count: 1 });
  const shown = FIRST.replace('two\n', '<<<<<<< yours\ndeux\n||||||| base\ntwo\n=======\nzwei\n>>>>>>> hub\n');
  expect(await merge({ ...args, style: 'diff3' })).toMatchObject({ content: shown, has_conflicts: true });
  const settled = { has_conflicts: false, conflict_count: 0 };
  expect(await merge({ ...args, favor: 'ours' })).toMatchObject({ content: CLASHING, ...settled });
  expect(await merge({ ...args, favor: 'theirs' })).toMatchObject({ content: SECOND, ...settled });
  expect(await merge({ ...args, favor: 'none' })).toMatchObject({ content: marked });
});

test('[SYN-13, SYN-5] the way from a refused push to a merged file', async () => {
  const path = await pathOf(FIRST, SECOND);
  const { code, data } = await device.refusedPush(path, OWN, { base_sha: sha256Of(FIRST) });
  expect(code).toBe(-32006);
  const conflict_id = String(data['conflict_id']);
  const merged = await merge({ conflict_id });
  expect(merged).toMatchObject({ path, content: BOTH, has_conflicts: false, ancestor_found: true });
  const { status } = await device.push(path, merged.content ?? '', {
    base_sha: merged.base_sha,
    sha256: merged.sha256,
    resolves: conflict_id,
  });
  expect(status).toBe('updated');
  // Nothing is lost by a merge: the conflict still says what it brought.
  expect(await merge({ conflict_id })).toMatchObject({ content: BOTH, has_conflicts: false });
});

test('[SYN-13] without a known ancestor nothing is guessed: the whole file is one conflict', async () => {
  const path = await pathOf(FIRST, SECOND);
  const whole = `<<<<<<< yours\n${OWN}=======\n${SECOND}>>>>>>> hub\n`;
  for (const base of [{}, { base_sha: sha256Of('never there') }, { base_sha: '' }]) {
    expect(await merge({ path, content: OWN, ...base })).toMatchObject({
      content: whole,
      conflict_count: 1,
      ancestor_found: false,
      ancestor_sha: null,
      base_sha: sha256Of(SECOND),
    });
  }
  expect(await merge({ path, content: OWN, favor: 'theirs' })).toMatchObject({
    content: SECOND,
    has_conflicts: false,
  });
  expect(await merge({ path, content: SECOND })).toMatchObject({ content: SECOND, has_conflicts: false });
});

test('[SYN-13] the bytes of another file are no ancestor', async () => {
  const other = await pathOf('something else\n');
  const path = await pathOf(FIRST, SECOND);
  expect((await merge({ path, content: OWN, base_sha: sha256Of('something else\n') })).ancestor_found).toBe(false);
  expect((await merge({ path: other, content: OWN, base_sha: sha256Of(FIRST) })).ancestor_found).toBe(false);
});

test('[SYN-13] the ancestor may stand under a name that the file had before', async () => {
  const [from, middle, to] = [await pathOf(FIRST), 'compared/second-name.md', 'compared/third-name.md'];
  const base = sha256Of(FIRST);
  await device.push(middle, SECOND, { from_path: from, base_sha: base });
  await device.push(from, 'another file took the name\n', { base_sha: '' });
  await device.push(to, SECOND, { from_path: middle, base_sha: sha256Of(SECOND) });
  for (const path of [to, 'compared/Third-Name.md']) {
    if (path !== to) await device.push(path, SECOND, { from_path: to, base_sha: sha256Of(SECOND) });
    expect(await merge({ path, content: OWN, base_sha: base })).toMatchObject({ content: BOTH, ancestor_found: true });
    expect(await diff({ path, content: OWN, base_sha: base })).toMatchObject({
      status: 'diverged',
      base_available: true,
    });
  }
  expect((await merge({ path: from, content: OWN, base_sha: base })).ancestor_found).toBe(true);
});

test('[SYN-13, SYN-6] a file that was deleted meanwhile: a change stands against it, no change gives in', async () => {
  const path = await deletedPath(FIRST);
  const changed = { path, content: OWN, base_sha: sha256Of(FIRST) };
  const undecided = { content: null, sha256: null, deleted: false, has_conflicts: true, conflict_count: 1 };
  expect(await merge(changed)).toMatchObject({
    ...undecided,
    base_sha: '',
    ancestor_found: true,
    server_sha256: null,
  });
  expect(await merge({ ...changed, favor: 'theirs' })).toMatchObject({
    content: null,
    deleted: true,
    has_conflicts: false,
  });
  expect(await merge({ ...changed, content: FIRST })).toMatchObject({
    content: null,
    deleted: true,
    has_conflicts: false,
  });
  const kept = await merge({ ...changed, favor: 'ours' });
  expect(kept).toMatchObject({ content: OWN, deleted: false, has_conflicts: false, base_sha: '' });
  expect((await device.push(path, OWN, { base_sha: kept.base_sha })).status).toBe('created');
});

test('[SYN-13, SYN-6] a delete that met a change', async () => {
  const path = await pathOf(FIRST, SECOND);
  const conflict_id = await refusedDelete(path, FIRST);
  expect(await merge({ conflict_id })).toMatchObject({ content: null, deleted: false, has_conflicts: true });
  expect(await merge({ conflict_id, favor: 'theirs' })).toMatchObject({ content: SECOND, deleted: false });
  const gone = await merge({ conflict_id, favor: 'ours' });
  expect(gone).toMatchObject({ content: null, deleted: true, has_conflicts: false, base_sha: sha256Of(SECOND) });
});

test('[SYN-13, SYN-5] a refused push of a path that the hub never had can be merged, and pushed as a new file', async () => {
  const path = 'compared/never-there.md';
  const { code, data } = await device.refusedPush(path, OWN, { base_sha: sha256Of('never there') });
  expect(code).toBe(-32006);
  const conflict_id = String(data['conflict_id']);
  const nothing = { base_sha: '', ancestor_found: false, server_sha256: null, server_hlc: null };
  expect(await merge({ conflict_id })).toMatchObject({ ...nothing, content: null, has_conflicts: true });
  expect(await merge({ conflict_id, favor: 'theirs' })).toMatchObject({ ...nothing, deleted: true });
  const kept = await merge({ conflict_id, favor: 'ours' });
  expect(kept).toMatchObject({ ...nothing, content: OWN, has_conflicts: false });
  expect((await device.push(path, OWN, { base_sha: kept.base_sha, resolves: conflict_id })).status).toBe('created');
});

test('[SYN-13, SYN-17] binary sides: one that did not change gives way, else one must be chosen', async () => {
  const path = await pathOf(FIRST);
  const args = { path, content: BINARY, encoding: 'base64' };
  expect(await merge({ ...args, base_sha: sha256Of(FIRST) })).toMatchObject({
    content: BINARY,
    encoding: 'base64',
    sha256: sha256Of(Buffer.from(BINARY, 'base64')),
    has_conflicts: false,
  });
  expect(await merge(args)).toMatchObject({ content: null, has_conflicts: true, conflict_count: 1, deleted: false });
  expect(await merge({ ...args, favor: 'ours' })).toMatchObject({ content: BINARY, encoding: 'base64' });
  expect(await merge({ ...args, favor: 'theirs' })).toMatchObject({ content: FIRST, encoding: 'utf-8' });
});

test('[SYN-13] line ends and a missing last one stay as they were', async () => {
  const windows = FIRST.replaceAll('\n', '\r\n');
  const path = await pathOf(windows, windows.replace('two', 'zwei'));
  const content = windows.replace('six', 'sechs').replace(/\r\n$/, '');
  const merged = await merge({ path, content, base_sha: sha256Of(windows) });
  expect(merged).toMatchObject({ has_conflicts: false, content: content.replace('two', 'zwei') });
  const clash = await merge({ path, content: windows.replace('two', 'deux'), base_sha: sha256Of(windows) });
  expect(clash.content).toContain('<<<<<<< yours\r\ndeux\r\n=======\r\nzwei\r\n>>>>>>> hub\r\n');
});

test('[SYN-13] hostile texts are merged while everybody else is answered', async () => {
  const lines = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('');
  const base = lines(20_000, (at) => String(((at * at) % 7) & 1));
  const path = await pathOf(
    base,
    lines(20_000, (at) => String(((at * at) % 11) & 1)),
  );
  const content = lines(20_000, (at) => String(((at * at) % 13) & 1));
  let running = true;
  const merging = merge({ path, content, base_sha: sha256Of(base) }).finally(() => {
    running = false;
  });
  let answered = 0;
  while (running) {
    expect((await call(hub, '/health')).status).toBe(200);
    if (running) answered += 1;
  }
  expect((await merging).has_conflicts).toBe(true);
  expect(answered).toBeGreaterThan(2);
  const equal = '\n'.repeat(1200);
  const blank = await pathOf(equal, `x\n${equal}`);
  const merged = await merge({ path: blank, content: `${equal}y\n`, base_sha: sha256Of(equal) });
  expect(merged).toMatchObject({ content: `x\n${equal}y\n`, has_conflicts: false });
});

test('[SYN-13] above the limits the whole file is one conflict', async () => {
  const large = 'a line of a long text\n'.repeat(60_000);
  const [ours, theirs] = [`ours\n${large}`, `${large}theirs\n`];
  const path = await pathOf(large, theirs);
  const args = { path, content: ours, base_sha: sha256Of(large) };
  expect(await merge(args)).toMatchObject({
    content: `<<<<<<< yours\n${ours}=======\n${theirs}>>>>>>> hub\n`,
    conflict_count: 1,
    ancestor_found: true,
  });
  expect(await merge({ ...args, favor: 'theirs' })).toMatchObject({ content: theirs, has_conflicts: false });
  // A side that changed nothing gives way at any size.
  expect(await merge({ ...args, content: large })).toMatchObject({ content: theirs, has_conflicts: false });
  const many = await pathOf('x\n', 'y\n');
  const manyLines = { path: many, content: 'z\n'.repeat(20_001), base_sha: sha256Of('x\n') };
  expect(await merge(manyLines)).toMatchObject({ conflict_count: 1 });
  expect((await merge(manyLines)).content).toMatch(/^<<<<<<< yours\nz\n/);
});

test.each([
  ['path', { content: 'x' }],
  ['content', { path: 'a' }],
  ['path', { path: '.git/config', content: 'x' }],
  ['content', { path: 'a', content: '\udc00' }],
  ['content', { path: 'a', content: 'no base64!', encoding: 'base64' }],
  ['base_sha', { path: 'a', content: 'x', base_sha: 'HEAD' }],
  ['path', { path: 'a', conflict_id: 'c_0' }],
  ['content', { content: 'a', conflict_id: 'c_0' }],
  ['base_sha', { base_sha: '', conflict_id: 'c_0' }],
  ['encoding', { encoding: 'base64', conflict_id: 'c_0' }],
  ['favor', { path: 'a', content: 'x', favor: 'mine' }],
  ['style', { path: 'a', content: 'x', style: 'zdiff3' }],
  ['vault_id', { path: 'a', content: 'x', vault_id: 'v_0000000000000000' }],
])('[SYN-13] a wrong %s is refused by name: %j', async (field, args) => {
  const { code, data } = await device.refusal('sync_merge', args);
  expect([code, data['field']]).toEqual([-32602, field]);
});

test('[SYN-13, KEY-8] what was never there, and what is somebody else’s, is not found', async () => {
  const never = await device.refusal('sync_merge', { path: 'compared/nothing.md', content: 'x' });
  expect(never).toMatchObject({ code: -32005, data: { path: 'compared/nothing.md' } });
  expect((await device.refusal('sync_merge', { conflict_id: 'c_0000000000000000' })).code).toBe(-32005);
  const path = await pathOf(FIRST, SECOND);
  const conflict_id = await refusedDelete(path, FIRST);
  const stranger = await newDevice(hub);
  const refused = await stranger.refusal('sync_merge', { conflict_id });
  expect(refused).toEqual(await stranger.refusal('sync_merge', { conflict_id: 'c_0000000000000000' }));
  expect((await stranger.refusal('sync_merge', { path, content: OWN })).code).toBe(-32005);
  expect(await stranger.result('sync_diff', { path })).toMatchObject({ status: 'missing', remote: null });
});

test('[SYN-13] it writes nothing', async () => {
  const path = await pathOf(FIRST, SECOND);
  const before = await device.result('vault_list', {});
  await merge({ path, content: CLASHING, base_sha: sha256Of(FIRST) });
  await diff({ path, content: CLASHING });
  expect(await device.result('vault_list', {})).toEqual(before);
});
