/** Records the last backup and the last check of the data: commands write it to the data folder, metrics report it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export type Chore = 'backup' | 'verify';

const count = z.number().int().nonnegative();
const mark = z.strictObject({ at_ms: z.number(), problems: count, set_aside: count.optional() });
const followed = z.strictObject({ at_ms: z.number(), every_ms: z.number().positive(), copying_all: z.boolean() });

/** When a chore ran, in milliseconds, how many problems it found, and how many damaged contents are set aside. */
type Mark = z.infer<typeof mark>;

/** The newest moment of which `cairn follow` has everything, how often it looks, and whether it makes a whole copy now. */
type Followed = z.infer<typeof followed>;

/** Records that a chore ran. Does nothing if this user cannot write to the data folder. */
export function noteDone(dataFolder: string, chore: Chore, done: Mark): void {
  put(dataFolder, chore, done);
}

/** What the last run of a chore noted; undefined: it never ran, or nothing is known of it. */
export function lastDone(dataFolder: string, chore: Chore): Mark | undefined {
  return read(dataFolder, chore, mark);
}

/** Records a sign of life of `cairn follow`. Does nothing if this user cannot write to the data folder. */
export function noteFollowed(dataFolder: string, now: Followed): void {
  put(dataFolder, 'follow', now);
}

/** The newest sign of life of `cairn follow`; undefined: it never ran. */
export function lastFollowed(dataFolder: string): Followed | undefined {
  return read(dataFolder, 'follow', followed);
}

function put(dataFolder: string, what: Chore | 'follow', value: Mark | Followed): void {
  try {
    writeFileSync(join(dataFolder, `last-${what}`), `${JSON.stringify(value)}\n`, { mode: 0o600 });
  } catch {
    // The chore itself succeeded; a missing metric is no reason to fail it.
  }
}

function read<T>(dataFolder: string, what: Chore | 'follow', schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(join(dataFolder, `last-${what}`), 'utf8')));
  } catch {
    // Missing, or truncated by a crash: the next run writes it again.
    return undefined;
  }
}
