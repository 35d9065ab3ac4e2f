/** A large file that does not fit leaves nothing behind that keeps small files out. */
import { expect, test } from 'vitest';
import { chunksIn, largeBytes, largeFilesOf, MiB } from '../../support/large-files.ts';
import { newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({
  verified: true,
  env: { CAIRN_SYNC_QUOTA_BYTES: String(16 * MiB), CAIRN_HISTORY_QUOTA_BYTES: String(4 * MiB) },
});

test('[SYN-38] a file for which the account has no room is refused before its chunks are sent, and small files go on', async () => {
  const own = await newDevice(hub);
  const ours = await largeFilesOf(own);
  const ask = async (path: string, bytes: Buffer) => {
    const file = { path, size_bytes: bytes.length };
    const body = JSON.stringify({ sha256: chunksIn(bytes).map((chunk) => sha256Of(chunk)), file });
    return await ours.ask('POST', '', body, 'application/json');
  };
  const tooLarge = await ask('film.mp4', largeBytes(24));
  expect([tooLarge.status, tooLarge.text]).toEqual([507, expect.stringContaining(`this needs ${24 * MiB} more`)]);
  await own.push('small.md', 'text');
  // What a new version takes the place of is freed.
  await ours.push('song.wav', largeBytes(12));
  expect((await ask('other.wav', largeBytes(12))).status).toBe(507);
  expect((await ask('song.wav', largeBytes(13))).status).toBe(200);
});

test('[SYN-38] what a push of a large file would settle is freed, so that it is not refused before', async () => {
  const own = await newDevice(hub);
  const ours = await largeFilesOf(own);
  const { sha256: base_sha } = await own.push('clip.mov', 'text');
  await own.push('clip.mov', 'another text', { base_sha });
  const bytes = largeBytes(12);
  await ours.sendMissing(bytes);
  const refused = await own.refusal('sync_push', ours.pushOf('clip.mov', bytes, { base_sha }));
  expect(refused.data).toMatchObject({ conflict_id: expect.any(String) });
  const file = { path: 'clip.mov', size_bytes: bytes.length };
  const body = JSON.stringify({ sha256: [sha256Of(bytes)], file });
  expect((await ours.ask('POST', '', body, 'application/json')).status).toBe(200);
  const resolves = refused.data?.['conflict_id'];
  await ours.push('clip.mov', bytes, { base_sha: sha256Of('another text'), resolves });
  expect((await ours.read('clip.mov')).equals(bytes)).toBe(true);
});

test('[SYN-38, SYN-21] a version for which the history has no room is refused before its chunks are sent', async () => {
  const own = await newDevice(hub);
  const ours = await largeFilesOf(own);
  const bytes = largeBytes(11);
  const next = Buffer.concat([largeBytes(5), bytes.subarray(5 * MiB)]);
  const { sha256: base_sha } = await ours.push('song.wav', bytes);
  const ask = async (of: Buffer) => {
    const chunks = chunksIn(of);
    const file = { path: 'song.wav', size_bytes: of.length, chunk_bytes: chunks.map(({ length }) => length) };
    const body = JSON.stringify({ sha256: chunks.map((chunk) => sha256Of(chunk)), file });
    return await ours.ask('POST', '', body, 'application/json');
  };
  const refused = await ask(next);
  expect([refused.status, refused.text]).toEqual([507, expect.stringContaining('earlier versions')]);
  // So would the push be.
  await ours.sendMissing(next);
  const pushed = await own.refusal('sync_push', {
    vault_id: ours.vaultId,
    ...ours.pushOf('song.wav', next, { base_sha }),
  });
  expect(pushed.message).toContain('earlier versions');
  // Bytes that are here need no room.
  expect((await ask(bytes)).status).toBe(200);
  const wrong = JSON.stringify({ sha256: [base_sha], file: { path: 'a', size_bytes: 1, chunk_bytes: [] } });
  expect((await ours.ask('POST', '', wrong, 'application/json')).status).toBe(422);
});
