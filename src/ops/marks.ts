/** Records the last backup and the last check of the data: commands write it to the data folder, metrics report it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export type Chore = 'backup' | 'verify';

const mark = z.strictObject({ at_ms: z.number(), problems: z.number().int().nonnegative() });

/** Records that a chore ran. Does nothing if this user cannot write to the data folder. */
export function noteDone(dataFolder: string, chore: Chore, problems: number, nowMs: number): void {
  try {
    writeFileSync(join(dataFolder, `last-${chore}`), `${JSON.stringify({ at_ms: nowMs, problems })}\n`, {
      mode: 0o600,
    });
  } catch {
    // The chore itself succeeded; a missing metric is no reason to fail it.
  }
}

/** When a chore last ran, in milliseconds, and how many problems it found; undefined: never, or not known. */
export function lastDone(dataFolder: string, chore: Chore): { at_ms: number; problems: number } | undefined {
  try {
    return mark.parse(JSON.parse(readFileSync(join(dataFolder, `last-${chore}`), 'utf8')));
  } catch {
    // Missing, or truncated by a crash: the next run writes it again.
    return undefined;
  }
}
