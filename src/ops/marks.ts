/** Records the last backup and the last check of the data: commands write it to the data folder, metrics report it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export type Chore = 'backup' | 'verify';

const count = z.number().int().nonnegative();
const mark = z.strictObject({ at_ms: z.number(), problems: count, set_aside: count.optional() });

/** When a chore ran, in milliseconds, how many problems it found, and how many damaged contents are set aside. */
type Mark = z.infer<typeof mark>;

/** Records that a chore ran. Does nothing if this user cannot write to the data folder. */
export function noteDone(dataFolder: string, chore: Chore, done: Mark): void {
  try {
    writeFileSync(join(dataFolder, `last-${chore}`), `${JSON.stringify(done)}\n`, { mode: 0o600 });
  } catch {
    // The chore itself succeeded; a missing metric is no reason to fail it.
  }
}

/** What the last run of a chore noted; undefined: it never ran, or nothing is known of it. */
export function lastDone(dataFolder: string, chore: Chore): Mark | undefined {
  try {
    return mark.parse(JSON.parse(readFileSync(join(dataFolder, `last-${chore}`), 'utf8')));
  } catch {
    // Missing, or truncated by a crash: the next run writes it again.
    return undefined;
  }
}
