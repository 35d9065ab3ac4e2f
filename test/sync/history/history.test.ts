/** Renames, history and restore from outside. */
import { beforeAll, expect, test } from 'vitest';
import { clockAt, type Device, gitShaOf, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

interface Version {
  readonly seq: number;
  readonly path: string;
  readonly status: string;
  readonly deleted: boolean;
  readonly sha256: string;
  readonly renamed_from: string | null;
}

interface Page {
  readonly path: string;
  readonly versions: Version[];
  readonly count: number;
  readonly has_more: boolean;
}

const hub = useHub({ loudest: 30, verified: true });
let laptop: Device;
let phone: Device;

beforeAll(async () => {
  laptop = await newDevice(hub);
  phone = laptop.other('phone');
});

const history = (path: string, more: object = {}) => laptop.result<Page>('sync_history', { path, ...more });
const rename = (from: string, to: string, content: string, more: object = {}) =>
  laptop.pushOf(to, content, { from_path: from, base_sha: sha256Of(content), ...more });

test('[SYN-1] a rename moves the file in one step and says the same again', async () => {
  const made = await laptop.push('old/name.md', 'text');
  const moved = await laptop.result('sync_push', rename('old/name.md', 'new/name.md', 'text'));
  expect(moved).toMatchObject({ status: 'renamed', path: 'new/name.md', previous_hlc: made.hlc, seq: made.seq + 2 });
  expect(await laptop.result('sync_push', rename('old/name.md', 'new/name.md', 'text'))).toMatchObject({
    status: 'unchanged',
    seq: moved['seq'],
  });
  expect((await history('new/name.md')).versions[0]).toMatchObject({ renamed_from: 'old/name.md', status: 'renamed' });
  expect((await history('old/name.md')).versions.map(({ status }) => status)).toEqual(['deleted', 'created']);
  expect(await laptop.push('old', 'the folder is gone')).toMatchObject({ status: 'created' });
});

test('[SYN-1] a rename changes the content as well, and only with the base of what it leaves', async () => {
  await laptop.push('draft.md', 'one');
  const unguarded = await laptop.refusal('sync_push', rename('draft.md', 'final.md', 'two', { base_sha: undefined }));
  expect(unguarded).toMatchObject({ code: -32602, data: { field: 'base_sha', current_sha: sha256Of('one') } });
  const stale = await laptop.refusal(
    'sync_push',
    rename('draft.md', 'final.md', 'two', { base_sha: sha256Of('zero') }),
  );
  expect(stale).toMatchObject({ code: -32006, data: { path: 'draft.md', conflict_id: expect.any(String) } });
  const moved = await laptop.result('sync_push', rename('draft.md', 'final.md', 'two', { base_sha: gitShaOf('one') }));
  expect(moved).toMatchObject({ status: 'renamed', sha256: sha256Of('two') });
});

test('[SYN-1] a rename onto another file is a conflict there, one from nowhere is not found', async () => {
  await laptop.push('here.md', 'mine');
  await laptop.push('there.md', 'theirs');
  expect(await laptop.refusal('sync_push', rename('here.md', 'there.md', 'mine'))).toMatchObject({
    code: -32006,
    data: { path: 'there.md', kind: 'create/create', server_sha256: sha256Of('theirs') },
  });
  expect(await laptop.refusal('sync_push', rename('no.md', 'there.md', 'mine'))).toMatchObject({ code: -32005 });
  const wrong: [object, string][] = [
    [{ from_path: 'there.md' }, 'from_path'],
    [{ from_path: '../x' }, 'from_path'],
    [{ deleted: true, content: undefined, sha256: undefined }, 'from_path'],
  ];
  for (const [more, field] of wrong) {
    const refused = await laptop.refusal('sync_push', rename('here.md', 'there.md', 'mine', more));
    expect([more, refused.code, refused.data['field']]).toEqual([more, -32602, field]);
  }
});

test('[SYN-15] a rename changes case alone, turns a file into a folder and a folder into a file', async () => {
  await laptop.push('readme.md', 'x');
  const spelled = await laptop.result('sync_push', rename('readme.md', 'README.md', 'x'));
  expect(spelled).toMatchObject({ status: 'renamed', path: 'README.md' });
  expect((await history('readme.md')).versions[0]).toMatchObject({ path: 'README.md', renamed_from: 'readme.md' });
  expect(await laptop.result('sync_push', rename('readme.md', 'README.md', 'x'))).toMatchObject({
    status: 'unchanged',
  });
  await laptop.push('a', 'a');
  expect(await laptop.result('sync_push', rename('a', 'a/b/c', 'a'))).toMatchObject({ status: 'renamed' });
  expect(await laptop.result('sync_push', rename('a/b/c', 'a', 'a'))).toMatchObject({ status: 'renamed' });
  await laptop.push('d/e', 'e');
  await laptop.push('d/f', 'f');
  expect(await laptop.refusal('sync_push', rename('d/e', 'd', 'e'))).toMatchObject({ data: { field: 'path' } });
});

test('[SYN-7] history lists the versions of a path, newest first, in pages', async () => {
  const seqs: number[] = [];
  for (let n = 1; n <= 5; n += 1) {
    seqs.push((await laptop.push('log.md', `version ${n}`)).seq);
    await laptop.push('other.md', `${n}`);
  }
  const whole = await history('LOG.md');
  expect(whole).toMatchObject({ path: 'log.md', count: 5, has_more: false });
  expect(whole.versions.map(({ seq }) => seq)).toEqual(seqs.toReversed());
  expect(whole.versions[4]).toMatchObject({ status: 'created', deleted: false, sha256: sha256Of('version 1') });
  const first = await history('log.md', { limit: 2 });
  expect(first).toMatchObject({ count: 2, has_more: true });
  const second = await history('log.md', { limit: 3, before: first.versions[1]?.seq });
  expect(second.has_more).toBe(false);
  expect([...first.versions, ...second.versions]).toEqual(whole.versions);
  const stray = await laptop.refusal('sync_history', { path: 'log.md', before: (seqs[0] ?? 0) + 1 });
  expect(stray).toMatchObject({ code: -32602, data: { field: 'before' } });
  expect(await laptop.refusal('sync_history', { path: 'never.md' })).toMatchObject({ code: -32005 });
});

test('[SYN-7] restore brings a version back as a new change, also of a deleted path and of long content', async () => {
  for (const text of ['short', 'long '.repeat(50_000)]) {
    const path = `restore-${text.length}.md`;
    const first = await laptop.push(path, text);
    await laptop.push(path, 'two');
    await laptop.result('sync_push', laptop.deleteOf(path, { base_sha: sha256Of('two') }));
    const back = await laptop.result('sync_restore', { path, seq: first.seq });
    expect(back).toMatchObject({ status: 'restored', sha256: sha256Of(text), seq: first.seq + 3, path });
    expect(back['git_sha']).toBe(first.git_sha);
    expect(await laptop.result('sync_restore', { path, seq: first.seq })).toMatchObject({ status: 'unchanged' });
    expect((await history(path)).versions[0]).toMatchObject({ status: 'restored', device_id: 'hub' });
    await phone.push(path, 'three', { base_sha: sha256Of(text) });
    const again = await laptop.result('sync_restore', { path, seq: back['seq'], base_sha: sha256Of('three') });
    expect(again).toMatchObject({ sha256: sha256Of(text), size_bytes: text.length });
  }
});

test('[SYN-7] what cannot be restored is refused with the field', async () => {
  const first = await laptop.push('r.md', 'one');
  const other = await laptop.push('s.md', 'other');
  const gone = await laptop.result('sync_push', laptop.deleteOf('r.md', { base_sha: first.sha256 }));
  const cases: [object, string][] = [
    [{ path: 'r.md', seq: other.seq }, 'seq'],
    [{ path: 'r.md', seq: 999_999 }, 'seq'],
    [{ path: 'r.md', seq: gone['seq'] }, 'seq'],
    [{ path: 'r.md', seq: first.seq, base_sha: first.sha256 }, 'base_sha'],
    [{ path: 'a//b', seq: 1 }, 'path'],
  ];
  for (const [args, field] of cases) {
    const refused = await laptop.refusal('sync_restore', args);
    expect([args, refused.code, refused.data['field']]).toEqual([args, -32602, field]);
  }
  expect(await laptop.refusal('sync_restore', { path: 'never.md', seq: 1 })).toMatchObject({ code: -32005 });
  const stranger = await newDevice(hub);
  expect(await stranger.refusal('sync_restore', { path: 'r.md', seq: first.seq })).toMatchObject({ code: -32005 });
});

test('[SYN-3] a base_sha of another file is a mix-up and not a conflict; one that nobody knows is a conflict', async () => {
  await laptop.push('x.md', 'x');
  const other = await laptop.push('y.md', 'y one');
  await laptop.push('y.md', 'y two');
  for (const base_sha of [sha256Of('y two'), gitShaOf('y two')]) {
    const refused = await laptop.refusedPush('x.md', 'changed', { base_sha });
    expect(refused).toMatchObject({ code: -32602, data: { field: 'base_sha' } });
    expect(await laptop.refusal('sync_push', laptop.deleteOf('x.md', { base_sha }))).toMatchObject({
      code: -32602,
      data: { field: 'base_sha' },
    });
    expect(await laptop.refusedPush('fresh.md', 'z', { base_sha })).toMatchObject({ code: -32602 });
  }
  expect(await laptop.refusedPush('y.md', 'y three', { base_sha: other.sha256 })).toMatchObject({ code: -32006 });
  const unknown = await laptop.refusedPush('x.md', 'changed', { base_sha: sha256Of('nobody'), hlc: clockAt(1) });
  expect(unknown).toMatchObject({ code: -32006, data: { kind: 'edit/edit' } });
  expect(await laptop.refusedPush('fresh.md', 'z', { base_sha: sha256Of('nobody') })).toMatchObject({
    code: -32006,
    data: { server_sha256: null, server_hlc: null, time_diff_seconds: null },
  });
});
