/** The list of the chunks of a large file: read back as it was written, and refused when anything in it is otherwise. */
import { expect, test } from 'vitest';
import { isChunked } from '../../../src/limits/large-file.ts';
import { limits } from '../../../src/limits/service.ts';
import { readChunkList } from '../../../src/sync/log/large-content.ts';
import { bytesOfChunks, type Chunk, formatChunkList } from '../../../src/text/chunk-list.ts';

const chunk = (digit: string, bytes: number): Chunk => ({ sha256: digit.repeat(64), bytes });
const CHUNKS = [chunk('a', 1), chunk('0', limits.fileChunkBytesMax), chunk('a', 1)];

test('[SYN-38] a list is read back as it was written, repeated chunks too', () => {
  expect(readChunkList(formatChunkList(CHUNKS))).toEqual(CHUNKS);
  expect(bytesOfChunks(CHUNKS)).toBe(limits.fileChunkBytesMax + 2);
});

test.each([
  ['nothing', ''],
  ['a list without its hash', formatChunkList(CHUNKS).slice(0, -65)],
  ['a changed character', formatChunkList(CHUNKS).replace('a', 'b')],
  ['no chunk', formatChunkList([])],
  ['a chunk of no bytes', formatChunkList([chunk('a', 0)])],
  ['a chunk that is too long', formatChunkList([chunk('a', limits.fileChunkBytesMax + 1)])],
  ['a part of a byte', formatChunkList([chunk('a', 1.5)])],
  ['a hash in capitals', formatChunkList([chunk('A', 1)])],
  ['too many chunks', formatChunkList(Array.from({ length: limits.fileChunksMax + 1 }, () => chunk('a', 1)))],
])('[SYN-38] %s is no list', (_, text) => {
  expect(readChunkList(text)).toBeUndefined();
});

test('[SYN-38] the longest list is one stored piece, and holds the largest file at the smallest average of chunks', () => {
  const all = Array.from({ length: limits.fileChunksMax }, () => chunk('f', limits.fileChunkBytesMax));
  const text = formatChunkList(all);
  expect(text.length).toBeLessThanOrEqual(limits.pieceBytes);
  expect(readChunkList(text)).toHaveLength(limits.fileChunksMax);
  expect(limits.fileChunksMax * 256 * 1024).toBeGreaterThanOrEqual(limits.largeFileBytesMax);
});

test('[SYN-38] exactly what cannot be sent whole is stored as chunks', () => {
  expect([limits.fileBytesMax, limits.fileBytesMax + 1].map(isChunked)).toEqual([false, true]);
});
