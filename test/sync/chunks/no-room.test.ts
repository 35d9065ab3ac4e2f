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
