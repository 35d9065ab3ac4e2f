/** The life of a conflict from outside: listed, settled by a push or by choice, gone from the list. */
import { beforeEach, expect, test } from 'vitest';
import { clockAt, type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

interface Conflict {
  readonly conflict_id: string;
  readonly path: string;
  readonly [field: string]: unknown;
}

const hub = useHub({ loudest: 30, verified: true });
let laptop: Device;
let phone: Device;

beforeEach(async () => {
  laptop = await newDevice(hub);
  phone = laptop.other('phone');
});

const old = clockAt(1000);
const pending = async (args: object = {}) =>
  (await laptop.result<{ conflicts: Conflict[] }>('sync_pending_conflicts', args)).conflicts;
const resolve = (args: object) => laptop.result('sync_resolve_conflict', args);

/** The text of the list, and the resource beside it. */
async function told(): Promise<{ text: string; payload: { conflicts: Conflict[] } }> {
  const { result } = await laptop.call('sync_pending_conflicts', {});
  if (result === undefined) throw new Error('the list was refused');
  const [text, resource] = result['content'] as [{ text: string }, { resource: { text: string } }];
  return { text: text.text, payload: JSON.parse(resource.resource.text) as { conflicts: Conflict[] } };
}

/** A file, and a push of the phone that was refused. Gives the id of the conflict. */
async function conflictOn(path: string, yours = 'mine', theirs = 'theirs'): Promise<string> {
  await laptop.push(path, theirs);
  const { data } = await phone.refusedPush(path, yours, { hlc: old });
  return data['conflict_id'] as string;
}

test('[SYN-14] with none pending the text says so; the payload is a resource as well', async () => {
  const { text, payload } = await told();
  expect(text).toBe('No pending conflicts.');
  expect(payload).toEqual({ vault_id: expect.any(String), count: 0, conflicts: [] });
});

test('[SYN-14] a pending conflict says what both sides have', async () => {
  const id = await conflictOn('a/b.md');
  const { text, payload } = await told();
  expect(text).toContain(id);
  const [conflict] = payload.conflicts;
  expect(conflict).toEqual({
    conflict_id: id,
    path: 'a/b.md',
    kind: 'create/create',
    status: 'pending',
    your_sha256: sha256Of('mine'),
    your_hlc: old,
    device_id: 'phone',
    size_bytes: 4,
    encoding: 'utf-8',
    server_sha256: sha256Of('theirs'),
    server_hlc: expect.any(String),
    base_sha: null,
    current_sha256: sha256Of('theirs'),
    detected_at: expect.stringMatching(/Z$/),
  });
});

test('[SYN-14] the list comes in pages, of a vault or of one path', async () => {
  const ids: string[] = [];
  for (const path of ['a.md', 'b.md', 'c.md', 'd.md', 'e.md']) ids.push(await conflictOn(path));
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { conflicts: Conflict[]; cursor: string | null } = await laptop.result('sync_pending_conflicts', {
      limit: 2,
      ...(cursor === null ? {} : { cursor }),
    });
    found.push(...page.conflicts.map(({ conflict_id: id }) => id));
    cursor = page.cursor;
  } while (cursor !== null);
  expect(found).toEqual(ids);
  expect((await pending({ path: 'C.md' })).map(({ conflict_id: id }) => id)).toEqual([ids[2]]);
  expect(await laptop.refusal('sync_pending_conflicts', { cursor: 'xyz' })).toMatchObject({
    data: { field: 'cursor' },
  });
});

test('[SYN-14] a push with resolves settles it, and so does a push of the same device with the right base', async () => {
  const first = await conflictOn('one.md');
  const merged = await laptop.push('one.md', 'both', { resolves: first, base_sha: sha256Of('theirs') });
  expect(merged.status).toBe('updated');
  await conflictOn('two.md');
  await phone.push('two.md', 'both', { base_sha: sha256Of('theirs') });
  expect(await pending()).toEqual([]);
});

test('[SYN-14] it is settled when both sides become equal, and superseded when its device pushes again', async () => {
  await conflictOn('equal.md', 'wanted');
  await laptop.push('equal.md', 'wanted');
  await conflictOn('again.md', 'mine one');
  const { data } = await phone.refusedPush('again.md', 'mine two', { hlc: old });
  expect((await pending()).map(({ conflict_id: id }) => id)).toEqual([data['conflict_id']]);
  await phone.push('again.md', 'mine three', { hlc: clockAt(Date.now()) });
  expect(await pending()).toEqual([]);
});

test('[SYN-1, SYN-14] a rename settles what its device has pending on either path, and equal bytes of another', async () => {
  await conflictOn('left.md', 'mine', 'moved');
  const wrong = { base_sha: sha256Of('never there') };
  await phone.refusedPush('reached.md', 'mine', wrong);
  await laptop.other('tablet').refusedPush('reached.md', 'moved', wrong);
  await laptop.other('desk').refusedPush('reached.md', 'another', wrong);
  const rename = { from_path: 'left.md', base_sha: sha256Of('moved') };
  expect((await phone.push('reached.md', 'moved', rename)).status).toBe('renamed');
  expect((await pending()).map(({ device_id: by }) => by)).toEqual(['desk']);
});

test('[SYN-14] resolves must name a conflict of that path', async () => {
  const elsewhere = await conflictOn('elsewhere.md');
  await laptop.push('here.md', 'one');
  for (const resolves of [elsewhere, 'c_0123456789abcdef', 'x']) {
    expect(await laptop.refusedPush('here.md', 'two', { resolves })).toMatchObject({
      code: -32602,
      data: { field: 'resolves' },
    });
  }
  expect(await pending()).toHaveLength(1);
});

test('[SYN-14] keep theirs leaves the file; the same again is the same answer', async () => {
  const id = await conflictOn('keep.md');
  const settled = await resolve({ conflict_id: id, keep: 'theirs' });
  expect(settled).toMatchObject({ status: 'dismissed', settled: [id], current_sha256: sha256Of('theirs'), seq: 1 });
  expect(await resolve({ conflict_id: id, keep: 'theirs' })).toEqual(settled);
  expect(await laptop.refusal('sync_resolve_conflict', { conflict_id: id, keep: 'yours' })).toMatchObject({
    code: -32602,
    data: { field: 'conflict_id' },
  });
  expect(await pending()).toEqual([]);
});

test('[SYN-14] keep yours makes the refused bytes a new version, short, long or binary', async () => {
  const bytes = Buffer.from([0, 1, 254, 255]);
  const sides: [string, object, string][] = [
    ['mine', {}, sha256Of('mine')],
    ['long '.repeat(60_000), {}, sha256Of('long '.repeat(60_000))],
    [bytes.toString('base64'), { encoding: 'base64', sha256: sha256Of(bytes) }, sha256Of(bytes)],
  ];
  for (const [index, [content, more, sha256]] of sides.entries()) {
    const path = `${index}.md`;
    await laptop.push(path, 'theirs');
    const { data } = await phone.refusedPush(path, content, { hlc: old, ...more });
    const args = { conflict_id: data['conflict_id'], keep: 'yours' };
    const settled = await resolve({ ...args, base_sha: sha256Of('theirs') });
    expect(settled).toMatchObject({ status: 'resolved', current_sha256: sha256 });
    expect(await resolve(args)).toEqual(settled);
    const again = { path, content, sha256, hlc: phone.clock(), device_id: 'phone', ...more };
    expect(await phone.result('sync_push', again)).toMatchObject({ status: 'unchanged', seq: settled['seq'] });
  }
});

test('[SYN-14, SYN-6] keep yours of a delete deletes, of an edit over a delete brings back', async () => {
  await laptop.push('del.md', 'one');
  await laptop.push('del.md', 'two');
  const refused = await phone.refusal('sync_push', phone.deleteOf('del.md', { base_sha: sha256Of('one') }));
  expect(await resolve({ conflict_id: refused.data['conflict_id'], keep: 'yours' })).toMatchObject({
    current_sha256: null,
  });
  const late = await phone.refusedPush('del.md', 'three', { base_sha: sha256Of('two') });
  expect(late.data['kind']).toBe('edit/delete');
  const settled = await resolve({ conflict_id: late.data['conflict_id'], keep: 'yours' });
  expect(settled).toMatchObject({ current_sha256: sha256Of('three') });
});

test('[SYN-14] a choice made over another state than the one seen is refused', async () => {
  const id = await conflictOn('seen.md');
  await laptop.push('seen.md', 'newer');
  for (const keep of ['theirs', 'yours']) {
    const refused = await laptop.refusal('sync_resolve_conflict', {
      conflict_id: id,
      keep,
      base_sha: sha256Of('theirs'),
    });
    expect(refused).toMatchObject({ code: -32602, data: { field: 'base_sha' } });
  }
  expect(await resolve({ conflict_id: id, keep: 'yours', base_sha: sha256Of('newer') })).toMatchObject({
    status: 'resolved',
  });
});

test('[SYN-14] by path: everything that is pending with theirs, one with yours', async () => {
  await conflictOn('many.md');
  await laptop.other('tablet').refusedPush('many.md', 'third', { hlc: old });
  const several = await laptop.refusal('sync_resolve_conflict', { path: 'many.md', keep: 'yours' });
  expect(several).toMatchObject({ code: -32602, data: { field: 'conflict_id' } });
  const settled = await resolve({ path: 'many.md', keep: 'theirs' });
  expect(settled['settled']).toHaveLength(2);
  expect(await resolve({ path: 'many.md', keep: 'yours' })).toMatchObject({ settled: [] });
  for (const args of [{ keep: 'yours' }, { keep: 'yours', path: 'many.md', conflict_id: 'c_1' }]) {
    expect(await laptop.refusal('sync_resolve_conflict', args)).toMatchObject({ code: -32602 });
  }
});

test('[SYN-14] a conflict of another account, or of another vault, is not there', async () => {
  const id = await conflictOn('secret.md');
  const stranger = await newDevice(hub);
  const foreign = await stranger.refusal('sync_resolve_conflict', { conflict_id: id, keep: 'theirs' });
  const unknown = await stranger.refusal('sync_resolve_conflict', {
    conflict_id: 'c_0123456789abcdef',
    keep: 'theirs',
  });
  expect(foreign).toEqual(unknown);
  expect(foreign.code).toBe(-32005);
  const { vault_id } = await laptop.result('vault_create', { name: 'other' });
  expect(await laptop.refusal('sync_resolve_conflict', { conflict_id: id, keep: 'theirs', vault_id })).toMatchObject({
    code: -32005,
  });
});

test('[SYN-7] each side of a settled or superseded conflict is in the history, and a restore takes it', async () => {
  interface Side {
    readonly conflict_id: string;
    readonly [field: string]: unknown;
  }
  const notChosen = async (path: string) =>
    (await laptop.result<{ not_chosen: Side[] }>('sync_history', { path })).not_chosen;
  const dismissed = await conflictOn('n.md');
  expect(await notChosen('n.md')).toEqual([]);
  await resolve({ conflict_id: dismissed, keep: 'theirs' });
  const second = await phone.refusedPush('n.md', 'second', { hlc: old });
  await phone.refusedPush('n.md', 'third', { hlc: old });
  const sides = await notChosen('N.md');
  expect(sides).toHaveLength(2);
  expect(sides).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        conflict_id: dismissed,
        status: 'dismissed',
        device_id: 'phone',
        sha256: sha256Of('mine'),
      }),
      expect.objectContaining({
        conflict_id: second.data['conflict_id'],
        status: 'superseded',
        sha256: sha256Of('second'),
      }),
    ]),
  );
  const restored = await laptop.result('sync_restore', { path: 'n.md', conflict_id: dismissed });
  expect(restored).toMatchObject({ status: 'restored', sha256: sha256Of('mine') });
  expect(await laptop.result('sync_pull', { path: 'n.md' })).toMatchObject({ content: 'mine' });
  for (const wrong of [{}, { seq: 1, conflict_id: dismissed }, { conflict_id: 'none' }]) {
    expect(await laptop.refusal('sync_restore', { path: 'n.md', ...wrong })).toMatchObject({ code: -32602 });
  }
  const [pendingNow] = await pending();
  const taken = { path: 'n.md', conflict_id: pendingNow?.conflict_id };
  expect(await laptop.refusal('sync_restore', taken)).toMatchObject({ data: { field: 'conflict_id' } });
});

test('[SYN-7] the chosen side of a conflict is a version, and is not listed as not chosen', async () => {
  await resolve({ conflict_id: await conflictOn('c.md'), keep: 'yours' });
  const page = await laptop.result<{ versions: object[]; not_chosen: object[] }>('sync_history', { path: 'c.md' });
  expect(page).toMatchObject({
    versions: [{ sha256: sha256Of('mine') }, { sha256: sha256Of('theirs') }],
    not_chosen: [],
  });
});

test('[SYN-14] keep both that is sent again names the same copy, and another choice is refused', async () => {
  const id = await conflictOn('r.md');
  const both = { conflict_id: id, keep: 'both' };
  const { copies } = await laptop.result<{ copies: string[] }>('sync_resolve_conflict', both);
  expect(copies).toHaveLength(1);
  expect(await resolve(both)).toMatchObject({ copies });
  expect(await laptop.refusal('sync_resolve_conflict', { conflict_id: id, keep: 'yours' })).toMatchObject({
    data: { field: 'conflict_id' },
  });
  const { files } = await laptop.result<{ files: { path: string }[] }>('sync_list', {});
  expect(files.filter(({ path }) => path.startsWith('r'))).toHaveLength(2);
});

test('[SYN-14] keep both makes one file of the same bytes: of both sides, or of two devices', async () => {
  const same = await conflictOn('s.md');
  await laptop.push('s.md', 'another', { base_sha: sha256Of('theirs') });
  const { data } = await laptop.other('tablet').refusedPush('s.md', 'mine', { hlc: old });
  const kept = await laptop.result<{ copies: string[] }>('sync_resolve_conflict', { path: 's.md', keep: 'both' });
  expect(kept).toMatchObject({
    settled: [same, data['conflict_id']].toSorted((one, other) => String(one).localeCompare(String(other))),
    copies: [expect.stringMatching(/^s \(/)],
  });
  expect(await pending({ path: 's.md' })).toEqual([]);
});
