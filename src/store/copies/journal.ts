/**
 * Owns what a followed backup holds besides its data file: blocks that changed since, one after another, and a line for each
 * point in time that they lead to. A line is written when its blocks are on disk; what stands after the last line is nothing.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { StartError } from '../../common/start-error.ts';

/** Number (4 bytes, little endian) and bytes of each block, in the order in which they were copied. */
const BLOCKS_FILE = 'journal.bin';
const POINTS_FILE = 'journal.ndjson';
export const BLOCK_BYTES = 16 * 1024;
export const ENTRY_BYTES = 4 + BLOCK_BYTES;
const PIECE_BYTES = 256 * ENTRY_BYTES;

const pointSchema = z.strictObject({
  /** Every write that was answered before is in it. */
  made_at: z.string(),
  /** Which file it was copied from: another one has other pages under the same numbers. */
  file: z.string(),
  transaction: z.number().int().nonnegative(),
  /** Of the data file. */
  bytes: z.number().int().positive(),
  /** Where its blocks end, and the SHA-256 of those from the end of the point before. */
  end: z.number().int().nonnegative(),
  sha256: z.string(),
  tables: z.record(z.string(), z.number().int().nonnegative()),
});

export type Point = z.infer<typeof pointSchema>;

export const hasJournal = (folder: string): boolean => existsSync(join(folder, POINTS_FILE));

/** The points of a followed backup, oldest first; none when it has no journal. Throws StartError when a line is damaged. */
export function readPoints(folder: string): Point[] {
  if (!hasJournal(folder)) return [];
  // What stands after the last line end was being written.
  const lines = readFileSync(join(folder, POINTS_FILE), 'utf8').split('\n').slice(0, -1);
  return lines.map((line, index) => {
    try {
      return pointSchema.parse(JSON.parse(line));
    } catch {
      // Which field is wrong helps nobody.
      throw new StartError(
        `line ${index + 1} of ${POINTS_FILE} in ${basename(folder)} is damaged; restore a time before it (--at), or another backup.`,
      );
    }
  });
}

/** Writes blocks, and then the point that they lead to, so that both survive a power cut. */
export function appendPoint(
  folder: string,
  after: Point | undefined,
  point: Omit<Point, 'end' | 'sha256'>,
  entries: Iterable<Buffer>,
): Point {
  const blocks = openSync(join(folder, BLOCKS_FILE), 'a+', 0o600);
  const sum = createHash('sha256');
  let end = after?.end ?? 0;
  try {
    ftruncateSync(blocks, end);
    for (const entry of entries) {
      sum.update(entry);
      end += writeWhole(blocks, entry);
    }
    fsyncSync(blocks);
  } finally {
    closeSync(blocks);
  }
  const made: Point = { ...point, end, sha256: sum.digest('hex') };
  const points = openSync(join(folder, POINTS_FILE), 'a', 0o600);
  try {
    writeWhole(points, Buffer.from(`${JSON.stringify(made)}\n`));
    fsyncSync(points);
  } finally {
    closeSync(points);
  }
  return made;
}

/** Removes what a copy that was cut off left after the last point. */
export function cutJournal(folder: string): void {
  if (!hasJournal(folder)) return;
  const path = join(folder, POINTS_FILE);
  truncateSync(path, readFileSync(path).lastIndexOf('\n') + 1);
}

/** Brings the data file of the backup to a point. Throws StartError when blocks on the way are damaged or missing. */
export function applyPoints(folder: string, path: string, points: readonly Point[]): void {
  const blocks = openSync(join(folder, BLOCKS_FILE), 'r');
  const target = openSync(path, 'r+');
  // In pieces: a point may be larger than a buffer can be.
  const piece = Buffer.alloc(PIECE_BYTES);
  try {
    let at = 0;
    for (const point of points) {
      const sum = createHash('sha256');
      for (; at < point.end; at += piece.length) {
        const bytes = piece.subarray(0, point.end - at);
        if (readSync(blocks, bytes, 0, bytes.length, at) !== bytes.length) break;
        sum.update(bytes);
        for (let entry = 0; entry < bytes.length; entry += ENTRY_BYTES) {
          writeSync(target, bytes, entry + 4, BLOCK_BYTES, bytes.readUInt32LE(entry) * BLOCK_BYTES);
        }
      }
      // The data file that is written is a copy, which the caller discards then.
      if (sum.digest('hex') !== point.sha256) {
        throw new StartError(
          `the blocks that ${BLOCKS_FILE} in ${basename(folder)} holds for ${point.made_at} are damaged; restore a time before it (--at).`,
        );
      }
      at = point.end;
      if (fstatSync(target).size > point.bytes || point === points.at(-1)) ftruncateSync(target, point.bytes);
    }
  } finally {
    closeSync(blocks);
    closeSync(target);
  }
}

function writeWhole(descriptor: number, bytes: Buffer): number {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  return bytes.length;
}
