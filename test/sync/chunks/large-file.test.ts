/** Files larger than what is sent whole: their chunks come first, each once a vault, then the list that makes the file. */
import { beforeAll, expect, test } from 'vitest';
import { chunksIn, type LargeFiles, largeBytes, largeFilesOf, listOf, MiB } from '../../support/large-files.ts';
import { type Device, gitShaOf, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 30, verified: true, env: { CAIRN_RATE_LIMIT: '0' } });
let laptop: Device;
let large: LargeFiles;

beforeAll(async () => {
  laptop = await newDevice(hub);
  large = await largeFilesOf(laptop);
});

const changed = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
};

test('[SYN-38] a file of 12 MiB arrives as chunks, and only a changed chunk is sent again', async () => {
  const bytes = largeBytes(12);
  expect(await large.sendMissing(bytes)).toBe(12);
  expect(await large.sendMissing(bytes)).toBe(0);
  const first = await large.push('film.mp4', bytes);
  expect(first).toMatchObject({
    status: 'created',
    sha256: sha256Of(bytes),
    git_sha: gitShaOf(bytes),
    size_bytes: 12 * MiB,
  });
  expect((await large.read('film.mp4')).equals(bytes)).toBe(true);
  const next = changed(bytes, 5 * MiB + 7);
  expect(await large.sendMissing(next)).toBe(1);
  const second = await large.push('film.mp4', next, { base_sha: first.sha256 });
  expect(second).toMatchObject({ status: 'updated', sha256: sha256Of(next) });
  expect((await large.read('film.mp4')).equals(next)).toBe(true);
  expect(await laptop.result('sync_push', large.pushOf('film.mp4', next))).toMatchObject({ status: 'unchanged' });
});

test('[SYN-38] a list is refused whose chunks are missing, damaged on the way, too few or not what the client says', async () => {
  const bytes = largeBytes(11);
  expect((await laptop.refusal('sync_push', large.pushOf('a.bin', bytes))).message).toContain(
    '11 chunks are not on the hub',
  );
  await large.sendMissing(bytes);
  const refusals = [
    await laptop.refusal('sync_push', large.pushOf('a.bin', bytes, { sha256: sha256Of('other') })),
    await laptop.refusal('sync_push', large.pushOf('a.bin', bytes, { content: `${listOf(chunksIn(bytes))}0` })),
    await laptop.refusal('sync_push', large.pushOf('a.bin', bytes.subarray(0, 3 * MiB))),
  ];
  expect(refusals.map(({ code }) => code)).toEqual([-32602, -32602, -32602]);
  expect(refusals.map(({ message }) => message)).toEqual([
    expect.stringContaining('sha256 does not match'),
    expect.stringContaining('"SHA-256:bytes" of each chunk'),
    expect.stringContaining('is sent whole'),
  ]);
  expect((await large.put(Buffer.from('x'), sha256Of('y'))).status).toBe(422);
  const many = await laptop.result<{ results: { error?: { message: string } }[] }>('sync_push_many', {
    files: [large.pushOf('a.bin', bytes)],
  });
  expect(many.results[0]?.error?.message).toContain('one file at a time');
});

test('[SYN-38] a client that does not know chunks is told to be updated, and gets nothing else instead', async () => {
  await large.push('known.bin', largeBytes(11));
  for (const args of [{ initial: true }, { path: 'known.bin' }, { paths: ['known.bin'] }, { since: '2026-01-01' }]) {
    expect((await laptop.refusal('sync_pull', args)).message).toContain('update cairn on this device');
  }
  const { files } = await laptop.result<{ files: { path: string; encoding?: string; content?: string }[] }>(
    'sync_pull',
    {
      initial: true,
      brief: true,
      chunks: true,
    },
  );
  expect(files.find(({ path }) => path === 'known.bin')).toMatchObject({ encoding: 'chunks' });
  expect(files.find(({ path }) => path === 'known.bin')?.content).toBeUndefined();
});

test('[SYN-38] history, restore, rename, delete and a conflict work as for small files, without sending bytes', async () => {
  const [one, two, three] = [largeBytes(11), largeBytes(11), largeBytes(11)];
  const first = await large.push('dump.sql', one);
  const second = await large.push('dump.sql', two, { base_sha: first.sha256 });
  await laptop.result('sync_restore', { path: 'dump.sql', seq: first.seq });
  expect((await large.read('dump.sql')).equals(one)).toBe(true);
  const renamed = { path: 'old.sql', from_path: 'dump.sql', base_sha: first.sha256, hlc: laptop.clock() };
  expect(await laptop.result('sync_push', renamed)).toMatchObject({ status: 'renamed', sha256: first.sha256 });
  expect((await large.read('old.sql')).equals(one)).toBe(true);
  await large.sendMissing(three);
  const refused = await laptop.refusal('sync_push', large.pushOf('old.sql', three, { base_sha: second.sha256 }));
  expect(refused.code).toBe(-32006);
  await laptop.result('sync_resolve_conflict', { conflict_id: refused.data['conflict_id'], keep: 'yours' });
  expect((await large.read('old.sql')).equals(three)).toBe(true);
  await laptop.result('sync_push', laptop.deleteOf('old.sql', { base_sha: sha256Of(three) }));
  const { versions } = await laptop.result<{ versions: { seq: number; encoding: string }[] }>('sync_history', {
    path: 'old.sql',
  });
  expect(versions.map(({ encoding }) => encoding)).toEqual(['utf-8', 'chunks', 'chunks', 'chunks', 'chunks', 'chunks']);
  await laptop.result('sync_restore', { path: 'old.sql', seq: versions[1]?.seq });
  expect((await large.read('old.sql')).equals(three)).toBe(true);
});

test('[SYN-38] what compares or shows contents says that the file is too large, and another account finds no chunk', async () => {
  const [one, two] = [largeBytes(11), largeBytes(11)];
  const first = await large.push('both.bin', one);
  const merge = { path: 'both.bin', content: 'mine', base_sha: first.sha256 };
  expect((await laptop.refusal('sync_merge', merge)).message).toContain('is not merged');
  await large.push('both.bin', two, { base_sha: first.sha256 });
  expect(
    await laptop.result('sync_diff', { path: 'both.bin', sha256: first.sha256, base_sha: first.sha256 }),
  ).toMatchObject({
    status: 'remote_ahead',
    base_available: true,
    diff: expect.stringContaining('Binary files'),
  });
  const stranger = await largeFilesOf(await newDevice(hub));
  const [chunk] = chunksIn(one);
  expect((await stranger.ask('GET', `/${sha256Of(chunk ?? '')}`)).status).toBe(404);
  expect(await stranger.missing([sha256Of(chunk ?? '')])).toEqual([sha256Of(chunk ?? '')]);
});
