/** The four modes of sync_pull and what goes with them, from outside; wrong arguments of each. */
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { argumentSchemas, mirrorTool, NDJSON, post, toolRequest, withKey } from '../../support/gateway.ts';
import { askForLines, pull, pullPages, pullStream, Replica } from '../../support/pull.ts';
import { type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const LONG = 'a "line" of a long file\n'.repeat(8000);
const hub = useHub({ loudest: 30 });
let laptop: Device;
let phone: Device;

/** a.md by the laptop, twice; b.md by the phone; gone.md deleted; bin is binary; long.txt is in pieces. */
async function fill(): Promise<void> {
  await laptop.push('notes/a.md', 'first');
  await phone.push('notes/b.md', 'of the phone');
  await laptop.push('gone.md', 'short-lived');
  await laptop.push('notes/a.md', 'second');
  await laptop.result('sync_push', laptop.deleteOf('gone.md', { base_sha: sha256Of('short-lived') }));
  const bytes = Buffer.from([0, 255, 128, 10]);
  await laptop.push('bin', bytes.toString('base64'), { encoding: 'base64', sha256: sha256Of(bytes) });
  await laptop.push('long.txt', LONG);
}

beforeAll(async () => {
  laptop = await newDevice(hub);
  phone = laptop.other('phone');
  await fill();
});

test('[SYN-8] one path gives its record, whatever its size and spelling', async () => {
  const one = await laptop.result('sync_pull', { path: 'notes/a.md' });
  expect(one).toMatchObject({ type: 'file', path: 'notes/a.md', content: 'second', sha256: sha256Of('second') });
  expect(Object.keys(one)).toEqual(
    expect.arrayContaining(['hlc', 'git_sha', 'stored_at', 'device_id', 'remote_mtime', 'seq', 'size_bytes']),
  );
  expect(await laptop.result('sync_pull', { path: 'NOTES/A.md' })).toEqual(one);
  expect(await laptop.result('sync_pull', { path: 'bin' })).toMatchObject({ encoding: 'base64', content: 'AP+ACg==' });
  expect(await laptop.result('sync_pull', { path: 'long.txt' })).toMatchObject({
    content: LONG,
    size_bytes: LONG.length,
  });
});

test('[SYN-8, RPC-5] one path comes as one line, in a batch and over the tool mirror as well', async () => {
  const ask = toolRequest(3, 'sync_pull', { path: 'long.txt' });
  const line = await post(hub, ask, { ...withKey(laptop.key), Accept: NDJSON });
  expect(line.text.indexOf('\n')).toBe(line.text.length - 1);
  const batch = await post(hub, [ask, toolRequest(4, 'sync_pull', { path: 'bin' })], withKey(laptop.key));
  const answers = batch.json() as unknown as { id: number; result: { structuredContent: { path: string } } }[];
  expect(new Map(answers.map(({ id, result }) => [id, result.structuredContent.path]))).toEqual(
    new Map([
      [3, 'long.txt'],
      [4, 'bin'],
    ]),
  );
  const mirrored = await mirrorTool(hub, 'sync_pull', { path: 'long.txt' }, withKey(laptop.key));
  expect([mirrored.status, mirrored.json()]).toMatchObject([200, { path: 'long.txt', content: LONG }]);
});

test('[SYN-8] initial gives every file once, without what was deleted before', async () => {
  const all = await pull(laptop, { initial: true });
  expect(all.files.map(({ path, content }) => [path, content.slice(0, 12)])).toEqual([
    ['notes/b.md', 'of the phone'],
    ['notes/a.md', 'second'],
    ['bin', 'AP+ACg=='],
    ['long.txt', 'a "line" of '],
  ]);
  expect(all).toMatchObject({ deleted: [], deleted_count: 0, total_count: 4, has_more: false, warnings: [] });
  expect(all.total_size_bytes).toBe(12 + 6 + 4 + LONG.length);
  const seqs = all.files.map(({ seq }) => seq);
  expect(seqs).toEqual([2, 4, 6, 7]);
});

test('[SYN-8] what a device sent last itself is left out for it', async () => {
  const forPhone = await pull(phone, { initial: true, device_id: 'phone' });
  expect(forPhone.files.map(({ path }) => path)).toEqual(['notes/a.md', 'bin', 'long.txt']);
  const forLaptop = await pull(laptop, { since: '2026-01-01', device_id: 'laptop' });
  expect([forLaptop.files.map(({ path }) => path), forLaptop.deleted]).toEqual([['notes/b.md'], []]);
  const forTablet = await pull(laptop, { since: '2026-01-01T00:00:00Z', device_id: 'tablet' });
  expect([forTablet.total_count, forTablet.deleted.map(({ path }) => path)]).toEqual([4, ['gone.md']]);
  expect(forTablet.deleted[0]).toMatchObject({ type: 'deleted', sha256: sha256Of('short-lived') });
});

test('[SYN-8] selected paths come once each, deleted ones as such, and what never was is named as missing', async () => {
  const paths = ['long.txt', 'notes/A.md', 'notes/a.md', 'gone.md', 'never.md'];
  const some = await pull(laptop, { paths });
  expect(some).toMatchObject({
    total_count: 2,
    deleted_count: 1,
    missing: ['never.md'],
    cursor: null,
    has_more: false,
  });
  expect(some.files.map(({ path }) => path)).toEqual(['notes/a.md', 'long.txt']);
  const first = await pull(laptop, { paths, limit: 1 });
  expect([first.files.map(({ path }) => path), first.has_more]).toEqual([['notes/a.md'], true]);
  const rest = await pull(laptop, { paths, cursor: first.cursor });
  expect([rest.deleted.map(({ path }) => path), rest.files.map(({ path }) => path)]).toEqual([
    ['gone.md'],
    ['long.txt'],
  ]);
});

test('[SYN-8, SYN-10] a cursor continues after what was given, with the changes and deletions since', async () => {
  const device = await newDevice(hub);
  await device.push('one', '1');
  const { cursor } = await pull(device, { initial: true });
  expect(await pull(device, { cursor })).toMatchObject({ files: [], deleted: [], has_more: false });
  await device.push('two', '2');
  await device.push('one', '1b');
  await device.result('sync_push', device.deleteOf('two', { base_sha: sha256Of('2') }));
  const next = await pull(device, { cursor });
  expect([next.files.map(({ path }) => path), next.deleted.map(({ path }) => path)]).toEqual([['one'], ['two']]);
  expect(await pull(device, { since: next.files[0]?.stored_at })).toMatchObject({ total_count: 0, deleted_count: 1 });
  expect(await pull(device, { since: next.deleted[0]?.stored_at })).toMatchObject({ total_count: 0, deleted_count: 0 });
});

test('[SYN-10] pages of an initial pull unite to the vault, with what is written and deleted between them', async () => {
  const device = await newDevice(hub);
  for (let n = 0; n < 12; n += 1) await device.push(`f${n}`, `${n}`);
  await device.result('sync_push', device.deleteOf('f3', { base_sha: sha256Of('3') }));
  const replica = new Replica();
  const told: string[] = [];
  const cursor = await pullPages(device, { initial: true, limit: 2 }, replica, async (page) => {
    if (page === 1) await device.result('sync_push', device.deleteOf('f0', { base_sha: sha256Of('0') }));
    if (page === 2) await device.push('f1', '1 again');
    if (page === 3) await device.push('new', 'n');
  });
  const whole = new Replica();
  const all = await pull(device, { initial: true });
  whole.apply(all.files);
  expect(replica.state).toEqual(whole.state);
  expect(await pull(device, { cursor })).toMatchObject({ files: [], deleted: [] });
  const stream = await pullStream(device, { initial: true, limit: 3 });
  told.push(...stream.lines.map(({ path }) => path));
  expect(told).not.toContain('f3');
  expect([stream.lines.length, stream.end.has_more]).toEqual([3, true]);
});

test('[SYN-9] an unknown path is -32005, and a deleted one says when it was deleted', async () => {
  expect(await laptop.refusal('sync_pull', { path: 'never.md' })).toMatchObject({ code: -32005 });
  const { code, data, message } = await laptop.refusal('sync_pull', { path: 'gone.md' });
  expect([code, data['deleted_at']]).toEqual([-32005, expect.stringMatching(/^2\d{3}-.*Z$/)]);
  expect(message).toContain('sync_restore');
});

test('[SYN-10] since is offered for what the hub stored, not for its time: a change of the same millisecond would be left out', async () => {
  const schemas = await argumentSchemas(hub);
  for (const name of ['sync_pull', 'vault_sync']) {
    const { properties } = z
      .object({ properties: z.object({ since: z.object({ description: z.string() }) }) })
      .parse(schemas.get(name));
    expect(properties.since.description, name).toMatch(/stored_at/);
    expect(properties.since.description, name).not.toMatch(/server_time/);
  }
});

test('[SYN-9] a since in the future gives nothing, and says so', async () => {
  const future = await pull(laptop, { since: '2999-01-01T00:00:00.000Z', wait_seconds: 20 });
  expect(future).toMatchObject({ files: [], deleted: [], has_more: false });
  expect(future.warnings).toEqual([expect.stringContaining('future')]);
  await laptop.push('later.md', 'x');
  expect((await pull(laptop, { cursor: future.cursor })).files.map(({ path }) => path)).toEqual(['later.md']);
});

test.each([
  [{}, 'path', /say what to pull/],
  [{ initial: false }, 'path', /say what to pull/],
  [{ path: 'a', initial: true }, 'initial', /cannot be combined/],
  [{ path: 'a', paths: ['a'] }, 'paths', /cannot be combined/],
  [{ since: '2026-01-01', initial: true }, 'initial', /cannot be combined/],
  [{ path: 'a', limit: 3 }, 'limit', /cannot be combined with path/],
  [{ path: 'a', wait_seconds: 3 }, 'wait_seconds', /can wait/],
  [{ paths: ['a'], wait_seconds: 3 }, 'wait_seconds', /can wait/],
  [{ initial: true, wait_seconds: 3 }, 'wait_seconds', /can wait/],
  [{ path: '../a' }, 'path', /\.\./],
  [{ paths: ['a', '/b'] }, 'paths', /absolute/],
  [{ paths: [] }, 'paths', /must not be empty/],
  [{ since: 'yesterday' }, 'since', /ISO 8601/],
  [{ since: '2026-02-30T00:00:00Z' }, 'since', /ISO 8601/],
  [{ since: '2026-02-03T00:00:00' }, 'since', /zone/],
  [{ since: '1700000000' }, 'since', /ISO 8601/],
  [{ initial: true, limit: 0 }, 'limit', /must be between 1 and [0-9]+/],
  [{ initial: true, limit: 1.5 }, 'limit', /must be a whole number/],
  [{ since: '2026-01-01', wait_seconds: 56 }, 'wait_seconds', /must be between [01] and 55/],
  [{ initial: true, device_id: '' }, 'device_id', /must not be empty/],
  [{ initial: true, vault_id: 'v_0000000000000000' }, 'vault_id', /no vault/],
  [{ initial: true, devise_id: 'x' }, 'devise_id', /device_id/],
])('[SYN-8, SYN-9] wrong arguments are refused: %j', async (args, field, sentence) => {
  const { code, data, message } = await laptop.refusal('sync_pull', args);
  expect([code, data['field']]).toEqual([-32602, field]);
  expect(message).toMatch(sentence);
});

test('[SYN-8] cursors that are forged, foreign or of another list are refused', async () => {
  const { cursor } = await pull(laptop, { initial: true });
  const stranger = await newDevice(hub);
  await stranger.push('x', 'y');
  const foreign = (await pull(stranger, { initial: true })).cursor ?? '';
  const ofPaths = (await pull(laptop, { paths: ['notes/a.md', 'bin'], limit: 1 })).cursor ?? '';
  const ofList = (await laptop.result<{ cursor: string }>('sync_list', { limit: 1 })).cursor;
  const [kind, payload, mac] = (cursor ?? '').split('.');
  const moved = Buffer.from(
    Buffer.from(payload ?? '', 'base64url')
      .toString()
      .replace(/,\d+,/, ',1,'),
  ).toString('base64url');
  const forged = [
    `${kind}.${moved}.${mac}`,
    `${kind}.${payload}.`,
    `${kind}.${payload}`,
    `${cursor}x`,
    '',
    '7',
    'c1..',
  ];
  for (const wrong of [...forged, foreign, ofPaths, ofList, 'x'.repeat(201)]) {
    const { code, data } = await laptop.refusal('sync_pull', { cursor: wrong });
    expect([wrong, code, data['field'], data['resync_required']]).toEqual([wrong, -32602, 'cursor', undefined]);
  }
  for (const args of [
    { paths: ['notes/a.md'], cursor },
    { path: 'bin', cursor },
    { since: '2026-01-01', cursor: foreign },
  ]) {
    expect(await laptop.refusal('sync_pull', args)).toMatchObject({ code: -32602, data: { field: 'cursor' } });
  }
});

test('[SYN-8, KEY-5] another account sees none of it', async () => {
  const stranger = await newDevice(hub);
  const { vault_id } = await pull(laptop, { initial: true });
  for (const args of [
    { initial: true, vault_id },
    { path: 'bin', vault_id },
  ]) {
    expect(await stranger.refusal('sync_pull', args)).toMatchObject({ code: -32602, data: { field: 'vault_id' } });
  }
  expect(await pull(stranger, { initial: true })).toMatchObject({ files: [], total_count: 0 });
});

test.each([60_000, 70_000, 100_000, 131_000, 140_000])(
  '[SYN-8, RPC-8] a file of %i bytes comes whole, though its beginning is read for the text first',
  async (bytes) => {
    const content = 'ä'.repeat(bytes / 2);
    const path = `long/${bytes}.md`;
    await laptop.push(path, content);
    const { content: pulled } = await laptop.result<{ content: string }>('sync_pull', { path });
    expect(pulled).toBe(content);
    const { content: again } = (await mirrorTool(hub, 'sync_pull', { path }, withKey(laptop.key))).json();
    expect(again).toBe(content);
  },
);

test('[SYN-8] a brief pull leaves out long contents, and what was skipped does not come', async () => {
  const device = await newDevice(hub);
  const { seq: first } = await device.push('a.md', 'a');
  await device.push('long.txt', LONG);
  await device.push('b.md', 'b');
  const { seq: last } = await device.push('c.md', 'c');
  const whole = await pull(device, { initial: true });
  const expected = whole.files.map(({ content, ...rest }) => (rest.path === 'long.txt' ? rest : { ...rest, content }));
  expect((await pull(device, { initial: true, brief: true })).files).toEqual(expected);
  const lines = (await askForLines(device, { initial: true, brief: true })).text.split('\n').slice(1, -2);
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual(expected);
  const { files: left } = await pull(device, { initial: true, skip: `${first},${last - 1}-${last}` });
  expect(left.map(({ path }) => path)).toEqual(['long.txt']);
  const { cursor } = await pull(device, { initial: true });
  const { seq } = await device.push('d.md', 'd');
  const waited = await pull(device, { cursor, skip: String(seq), wait_seconds: 1 });
  expect(waited).toMatchObject({ files: [], total_count: 0 });
  expect(await pull(device, { cursor: waited.cursor })).toMatchObject({ files: [] });
  for (const skip of ['3-1', '5,4', 'x', '1,,2']) {
    const refused = await device.refusal('sync_pull', { initial: true, skip });
    expect(refused).toMatchObject({ code: -32602, data: { field: 'skip' } });
  }
});
