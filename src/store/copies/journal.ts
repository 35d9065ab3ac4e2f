/**
 * Reads and writes the journal of a followed backup: the blocks changed since its data file was copied, and a line for
 * each point in time to restore. A line is written when its blocks are on disk. Blocks after the last line are ignored.
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
} from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { StartError } from '../../common/start-error.ts';
import { writeFlushed, writeWhole } from '../data-file/write-whole.ts';

/** Number (4 bytes, little endian) and bytes of each block, in the order they were copied. */
const BLOCKS_FILE = 'journal.bin';
const POINTS_FILE = 'journal.ndjson';
export const BLOCK_BYTES = 16 * 1024;
export const ENTRY_BYTES = 4 + BLOCK_BYTES;
const PIECE_BYTES = 256 * ENTRY_BYTES;

const pointSchema = z.strictObject({
  /** The point contains every write acknowledged before this time. */
  made_at: z.string(),
  /** Identity of the source file: another file has different pages under the same numbers. */
  file: z.string(),
  transaction: z.number().int().nonnegative(),
  /** Size of the data file. */
  bytes: z.number().int().positive(),
  /** Offset where its blocks end, and the SHA-256 of its blocks since the end of the previous point. */
  end: z.number().int().nonnegative(),
  sha256: z.string(),
  tables: z.record(z.string(), z.number().int().nonnegative()),
});

export type Point = z.infer<typeof pointSchema>;

export const hasJournal = (folder: string): boolean => existsSync(join(folder, POINTS_FILE));

export interface Journal {
  /** Oldest first, up to the first line that is damaged. */
  readonly points: readonly Point[];
  /** Number of that line; undefined: none is. */
  readonly damagedLine: number | undefined;
}

/** The points of a followed backup; none without a journal. */
export function readPoints(folder: string): Journal {
  if (!hasJournal(folder)) return { points: [], damagedLine: undefined };
  // Text after the last line end is an incomplete line.
  const lines = readFileSync(join(folder, POINTS_FILE), 'utf8').split('\n').slice(0, -1);
  const points: Point[] = [];
  for (const line of lines) {
    const point = pointOf(line);
    // Those after it build upon its blocks.
    if (point === undefined) return { points, damagedLine: points.length + 1 };
    points.push(point);
  }
  return { points, damagedLine: undefined };
}

/** Undefined: the line is damaged. */
function pointOf(line: string): Point | undefined {
  try {
    return pointSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Why nothing after the last point before a damaged line can be restored. `last`: when that point, or the whole copy, was made. */
export const damagedAfter = (folder: string, line: number, last: string): StartError =>
  new StartError(
    `line ${line} of ${POINTS_FILE} in ${basename(folder)} is damaged; restore ${last} or a time before it (--at), or another backup.`,
  );

/** Writes and flushes blocks, then their point, so that both survive a power failure. */
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
  writeFlushed(join(folder, POINTS_FILE), Buffer.from(`${JSON.stringify(made)}\n`), 'a');
  return made;
}

/**
 * Removes the incomplete line of an interrupted append, and with `last` each line after that of this point: one whose flush
 * failed may look complete, and its blocks are written over.
 */
export function cutJournal(folder: string, last?: Point): void {
  if (!hasJournal(folder)) return;
  const path = join(folder, POINTS_FILE);
  const text = readFileSync(path, 'latin1');
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split(/(?<=\n)/);
  const isLast = (line: string) => {
    const point = pointOf(line);
    return point?.made_at === last?.made_at && point?.end === last?.end;
  };
  const kept = last === undefined ? lines : lines.slice(0, lines.findLastIndex(isLast) + 1);
  truncateSync(path, kept.join('').length);
}

/** Applies points to the data file of the backup, in order. Throws StartError when blocks are damaged or missing. */
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
          const position = bytes.readUInt32LE(entry) * BLOCK_BYTES;
          writeWhole(target, bytes.subarray(entry + 4, entry + ENTRY_BYTES), position);
        }
      }
      // The data file that is written is a copy, which the caller discards then.
      if (sum.digest('hex') !== point.sha256) {
        throw new StartError(
          `the blocks for ${point.made_at} in ${BLOCKS_FILE} of ${basename(folder)} are damaged; restore a time before it (--at).`,
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
