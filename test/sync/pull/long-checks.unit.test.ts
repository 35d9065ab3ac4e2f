/** Checks of long contents: the first pull hashes, later ones compare checksums, and damage is found in each of them. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { type ContentInPieces, LongCheck, WholeContents } from '../../../src/sync/pull/long-checks.ts';
import { runs, seed } from '../../support/seed.ts';

const PIECE = limits.pieceBytes;

interface Stored {
  readonly content: ContentInPieces;
  readonly pieces: readonly Uint8Array[];
}

/** Stores a text under an id, as pushes do. */
function stored(text: string, storageId = 1): Stored {
  const escaped = Buffer.from(JSON.stringify(text).slice(1, -1));
  const pieces = Array.from({ length: Math.ceil(escaped.length / PIECE) }, (_, index) =>
    escaped.subarray(index * PIECE, (index + 1) * PIECE),
  );
  return { content: { storageId, encoding: 'utf-8', sha256: createHash('sha256').update(text).digest('hex') }, pieces };
}

/** Reads all of it; each read takes part of what was offered, as a socket does. Says what was read, or that damage was found. */
function read({ content, pieces }: Stored, whole: WholeContents, taken = (bytes: number) => bytes): string {
  const check = new LongCheck(content, whole);
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const parts: Uint8Array[] = [];
  for (let position = 0; position < total; ) {
    const given = check.next(pieces[Math.floor(position / PIECE)] as Uint8Array, position);
    if (given === undefined) return 'damaged';
    const part = given.subarray(0, taken(given.length));
    parts.push(part);
    position += part.length;
  }
  return check.isWhole() ? (JSON.parse(`"${Buffer.concat(parts).toString()}"`) as string) : 'damaged';
}

function flipped({ content, pieces }: Stored, at: number): Stored {
  const copies = pieces.map((piece) => Uint8Array.from(piece));
  const piece = copies[Math.floor(at / PIECE)] as Uint8Array;
  piece[at % PIECE] = (piece[at % PIECE] as number) ^ 1;
  return { content, pieces: copies };
}

const long = stored('aé😀\n"'.repeat(200_000));

describe('[MIR-19] a long content', () => {
  test('is read whole, the first time in small parts and then in pieces', () => {
    const whole = new WholeContents();
    const sizes: number[] = [];
    const note = (bytes: number) => {
      sizes.push(bytes);
      return bytes;
    };
    const first = read(long, whole, note);
    expect(createHash('sha256').update(first).digest('hex')).toBe(long.content.sha256);
    expect(Math.max(...sizes)).toBe(limits.hashedStepBytes);
    sizes.length = 0;
    expect(read(long, whole, note)).toBe(first);
    expect(sizes).toEqual(long.pieces.map((piece) => piece.length));
  });

  test.each([
    ['the first byte', 0],
    ['the last byte of a piece', PIECE - 1],
    ['the first byte of the second piece', PIECE],
    ['a byte in the middle', PIECE + 12_345],
  ])('is found damaged in %s, by the first pull and by later ones', (_where, at) => {
    const whole = new WholeContents();
    expect(read(flipped(long, at), whole)).toBe('damaged');
    expect(whole.sumsOf(long.content)).toBeUndefined();
    expect(read(long, whole)).not.toBe('damaged');
    expect(read(flipped(long, at), whole)).toBe('damaged');
  });

  test('is hashed again when the version names another hash, or it is stored under another id', () => {
    const whole = new WholeContents();
    read(long, whole);
    expect(whole.sumsOf({ ...long.content, sha256: '0'.repeat(64) })).toBeUndefined();
    expect(whole.sumsOf({ ...long.content, storageId: 2 })).toBeUndefined();
    expect(read({ ...long, content: { ...long.content, sha256: '0'.repeat(64) } }, whole)).toBe('damaged');
  });

  test(`is read whole however little a socket takes (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: PIECE }), { minLength: 1, maxLength: 20 }), (takes) => {
        const whole = new WholeContents();
        for (let pull = 0; pull < 2; pull += 1) {
          let at = 0;
          const taken = (bytes: number) => {
            at += 1;
            return Math.min(bytes, 4096 + (takes[at % takes.length] as number));
          };
          expect(read(long, whole, taken)).not.toBe('damaged');
        }
      }),
      { seed, numRuns: runs(10) },
    );
  });
});

/** Reads from a position up to another one; says where it is then, or that damage was found. */
function readOn(check: LongCheck, { pieces }: Stored, from: number, to: number, sizes: number[] = []) {
  let position = from;
  while (position < to) {
    const given = check.next(pieces[Math.floor(position / PIECE)] as Uint8Array, position);
    if (given === undefined) return 'damaged';
    sizes.push(given.length);
    position += given.length;
  }
  return position;
}
const total = long.pieces.reduce((sum, piece) => sum + piece.length, 0);

describe('[MIR-19] a long content that several pulls read at the same time', () => {
  test('is hashed once by pulls that read it together, also when the first one stops', () => {
    const whole = new WholeContents();
    const [first, second, third] = Array.from({ length: 3 }, () => new LongCheck(long.content, whole));
    const stopped = readOn(first as LongCheck, long, 0, PIECE);
    expect(stopped).toBe(PIECE);
    const sizes: number[] = [];
    expect(readOn(second as LongCheck, long, 0, total, sizes)).toBe(total);
    expect(sizes[0]).toBe(PIECE);
    expect(Math.max(...sizes.slice(1))).toBe(limits.hashedStepBytes);
    sizes.length = 0;
    expect(readOn(third as LongCheck, long, 0, total, sizes)).toBe(total);
    expect(sizes).toEqual(long.pieces.map((piece) => piece.length));
    expect(third?.isWhole()).toBe(true);
    expect(whole.sumsOf(long.content)).toHaveLength(long.pieces.length);
    expect(readOn(first as LongCheck, long, PIECE, total)).toBe(total);
    expect([first, second].map((check) => check?.isWhole())).toEqual([true, true]);
  });

  test('is found damaged by the pull that reads other bytes than the one that hashed them', () => {
    const whole = new WholeContents();
    const [first, second] = [new LongCheck(long.content, whole), new LongCheck(long.content, whole)];
    expect(readOn(first, long, 0, total)).toBe(total);
    expect(readOn(second, flipped(long, PIECE + 5), 0, total)).toBe('damaged');
    expect(first.isWhole()).toBe(true);
  });

  test('whose hash did not match is hashed again by the next pull', () => {
    const whole = new WholeContents();
    const bad = flipped(long, 100);
    const [first, second] = [new LongCheck(long.content, whole), new LongCheck(long.content, whole)];
    for (const check of [first, second]) expect(readOn(check, bad, 0, total)).toBe(total);
    expect([first, second].map((check) => check.isWhole())).toEqual([false, false]);
    expect(read(long, whole)).not.toBe('damaged');
  });
});
