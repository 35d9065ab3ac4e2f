/** Owns when a backup and a check of the data were last made: commands note it in the data folder, the metrics tell it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export type Chore = 'backup' | 'verify';

const mark = z.strictObject({ at_ms: z.number(), problems: z.number().int().nonnegative() });

/** Notes that a chore was done. A data folder that this user cannot write to is left as it is. */
export function noteDone(dataFolder: string, chore: Chore, problems: number, nowMs: number): void {
  try {
    writeFileSync(join(dataFolder, `last-${chore}`), `${JSON.stringify({ at_ms: nowMs, problems })}\n`, {
      mode: 0o600,
    });
  } catch {
    // The chore itself is done; that it is not told in a metric is no reason to fail it.
  }
}

/** When a chore was last done, in milliseconds, and what it found; undefined: never, as far as is known. */
export function lastDone(dataFolder: string, chore: Chore): { at_ms: number; problems: number } | undefined {
  try {
    return mark.parse(JSON.parse(readFileSync(join(dataFolder, `last-${chore}`), 'utf8')));
  } catch {
    // Not there, or cut off by a crash: the next one writes it again.
    return undefined;
  }
}
