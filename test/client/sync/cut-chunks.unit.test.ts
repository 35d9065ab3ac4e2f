/** Where a file is cut follows from its content alone, so an edit changes the chunks around it and no others. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChunkCutter, type ChunkSizes } from '../../../src/client/sync/folder/cut-chunks.ts';

const KiB = 1024;
const SMALL: ChunkSizes = { min: 1 * KiB, average: 4 * KiB, max: 16 * KiB };

/** Bytes that look random and are the same in every run. */
function noise(bytes: number, seed = 'noise'): Buffer {
  const parts = Array.from({ length: Math.ceil(bytes / 64) }, (_, at) =>
    createHash('sha512').update(`${seed} ${at}`).digest(),
  );
  return Buffer.concat(parts).subarray(0, bytes);
}

/** The chunks of a file that arrives in parts of these sizes, over and over. */
function cut(bytes: Buffer, sizes: ChunkSizes = SMALL, partSizes: readonly number[] = [bytes.length]): Buffer[] {
  const cutter = new ChunkCutter(sizes);
  const chunks: Buffer[] = [];
  let open: Buffer[] = [];
  let index = 0;
  for (let at = 0; at < bytes.length; index += 1) {
    let part = bytes.subarray(at, at + (partSizes[index % partSizes.length] ?? 1));
    at += part.length;
    for (let end = cutter.next(part); end !== undefined; end = cutter.next(part)) {
      chunks.push(Buffer.concat([...open, part.subarray(0, end)]));
      open = [];
      part = part.subarray(end);
    }
    open.push(part);
  }
  const rest = Buffer.concat(open);
  return rest.length > 0 ? [...chunks, rest] : chunks;
}

const names = (chunks: readonly Buffer[]): Set<string> =>
  new Set(chunks.map((chunk) => createHash('sha256').update(chunk).digest('hex')));
const newIn = (before: Buffer, after: Buffer): number => {
  const known = names(cut(before));
  return [...names(cut(after))].filter((name) => !known.has(name)).length;
};

test('[SYN-39] every chunk but the last has a size within the bounds, about the average, and all of them are the file', () => {
  const bytes = noise(1024 * KiB);
  const chunks = cut(bytes);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  const whole = chunks.slice(0, -1).map(({ length }) => length);
  expect(Math.min(...whole)).toBeGreaterThan(SMALL.min);
  expect(Math.max(...whole)).toBeLessThanOrEqual(SMALL.max);
  const mean = whole.reduce((sum, length) => sum + length, 0) / whole.length;
  expect(mean).toBeGreaterThan(SMALL.average * 0.8);
  expect(mean).toBeLessThan(SMALL.average * 1.6);
});

test('[SYN-39] the same bytes are cut at the same places, whatever the parts in which they arrive', () => {
  const bytes = noise(128 * KiB);
  const expected = cut(bytes).map(({ length }) => length);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 }), (partSizes) => {
      expect(cut(bytes, SMALL, partSizes).map(({ length }) => length)).toEqual(expected);
    }),
  );
});

test('[SYN-39] the places never change between versions of cairn', () => {
  expect(cut(noise(64 * KiB)).map(({ length }) => length)).toMatchInlineSnapshot(`
    [
      4097,
      3565,
      2178,
      4308,
      1906,
      4304,
      4414,
      4759,
      4120,
      4513,
      5426,
      6139,
      4275,
      5637,
      4827,
      1068,
    ]
  `);
});

test('[SYN-39] a byte changed, put in or taken out changes a few chunks around it', () => {
  const bytes = noise(512 * KiB);
  for (const at of [0, 1000, 200_000, 400_001]) {
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    for (const edited of [
      changed,
      Buffer.concat([before, Buffer.from('+'), after]),
      Buffer.concat([before, after.subarray(1)]),
    ]) {
      expect(newIn(bytes, edited)).toBeLessThanOrEqual(3);
    }
  }
});

test('[SYN-39] bytes that are all the same are cut at the largest size', () => {
  expect(cut(Buffer.alloc(40 * KiB)).map(({ length }) => length)).toEqual([16 * KiB, 16 * KiB, 8 * KiB]);
});
