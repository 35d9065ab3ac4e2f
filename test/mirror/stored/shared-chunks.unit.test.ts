/** Verified chunks that serve several downloads at once. */
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { SharedChunks } from '../../../src/mirror/stored/shared-chunks.ts';

const bytesOf = (value: number, length = 1000): Uint8Array => new Uint8Array(length).fill(value);
const LONG = limits.sharedChunkMs;

test('[MIR-19] a chunk is kept for a moment from when it was verified, and no longer', () => {
  const shared = new SharedChunks();
  expect(shared.find(1, 0, 1)).toBeUndefined();
  const sent = bytesOf(1);
  shared.offer(1, 0, sent, 1);
  // The caller's memory is read into again.
  sent.fill(9);
  expect(shared.find(1, 0, LONG)).toEqual(bytesOf(1));
  expect(shared.find(1, 1, LONG)).toBeUndefined();
  expect(shared.find(2, 0, LONG)).toBeUndefined();
  expect(shared.find(1, 0, 1 + LONG)).toBeUndefined();
});

test('[MIR-19] a chunk that is sent all the time is verified again after each moment', () => {
  const shared = new SharedChunks();
  shared.offer(1, 0, bytesOf(1), 0);
  expect(shared.find(1, 0, LONG - 1)).toEqual(bytesOf(1));
  expect(shared.find(1, 0, LONG)).toBeUndefined();
  shared.offer(1, 0, bytesOf(2), LONG);
  expect(shared.find(1, 0, 2 * LONG - 1)).toEqual(bytesOf(2));
  expect(shared.find(1, 0, 2 * LONG)).toBeUndefined();
});

test('[MIR-19] as many chunks are kept as the limit says, and memory that is used again is of the right length', () => {
  const shared = new SharedChunks();
  for (let index = 0; index < 2 * limits.sharedChunksMax; index += 1) {
    shared.offer(1, index, bytesOf(index, 1000 - index), 1);
  }
  expect(shared.size).toBe(limits.sharedChunksMax);
  for (let index = 0; index < 2 * limits.sharedChunksMax; index += 1) {
    const isKept = index >= limits.sharedChunksMax;
    expect(shared.find(1, index, 2)).toEqual(isKept ? bytesOf(index, 1000 - index) : undefined);
  }
  shared.sweep(1 + LONG);
  expect(shared.size).toBe(0);
});
