/**
 * Stores the schema version of a data file and migrates older files: step by step, each step in small pieces. Each
 * piece is one commit that also stores the start of the next piece, so an interrupted migration resumes where it
 * stopped.
 */

import type { Batch } from '../group-commit.ts';
import { UPGRADE } from '../owners.ts';
import type { Store } from '../store.ts';
import type { AnyTable, Key, Reader } from '../table.ts';
import { meta } from './meta.ts';

const VERSION_ROW = 'schema';
const PROGRESS_ROW = 'migration';

/** One step from a schema to the next. It declares the format of older rows itself, because later code drops it. */
export interface Migration {
  /** The schema after this step; the step needs the previous one. */
  readonly to: number;
  /** Description of the change, for the log. */
  readonly what: string;
  /** Tables this step needs that are not (or no longer) tables of the service. */
  readonly tables: readonly AnyTable[];
  /** Returns one sentence for each obstacle to the step. Read-only. */
  check(store: Store): readonly string[];
  /** Migrates one piece within a commit. Returns the start of the next piece, or undefined after the last. */
  piece(batch: Batch, from: Key | undefined): Key | undefined;
}

/** The schema of a data file; 1 for files from before schemas had numbers. */
export function schemaOf(reader: Pick<Reader, 'get'>): number {
  return Number(reader.get(meta, [VERSION_ROW])?.value ?? 1);
}

/** True when a migration was interrupted. */
export function isMigrating(reader: Pick<Reader, 'get'>): boolean {
  return reader.get(meta, [PROGRESS_ROW]) !== undefined;
}

/** Writes the schema version. Call it within the first commit of a new data file. */
export function putSchema(batch: Batch, schema: number): void {
  batch.put(meta, [VERSION_ROW], { value: String(schema) });
}

/**
 * Runs the remaining steps of a data file, resuming an interrupted one. Calls `onPiece` after each commit.
 * Rejects with the error of a piece; earlier commits remain.
 */
export async function migrate(
  store: Store,
  steps: readonly Migration[],
  onPiece: (step: Migration, pieces: number) => void,
): Promise<void> {
  for (;;) {
    const at = schemaOf(store);
    const step = steps.find(({ to }) => to === at + 1);
    if (step === undefined) return;
    let from = progressOf(store);
    let pieces = 0;
    do {
      const begin = from;
      from = await store.write(UPGRADE, (batch) => runPiece(batch, step, begin));
      pieces += 1;
      onPiece(step, pieces);
    } while (from !== undefined);
  }
}

function runPiece(batch: Batch, step: Migration, from: Key | undefined): Key | undefined {
  const next = step.piece(batch, from);
  if (next === undefined) {
    batch.remove(meta, [PROGRESS_ROW]);
    putSchema(batch, step.to);
  } else {
    batch.put(meta, [PROGRESS_ROW], { value: JSON.stringify(next) });
  }
  return next;
}

function progressOf(store: Store): Key | undefined {
  const row = store.get(meta, [PROGRESS_ROW]);
  return row === undefined ? undefined : (JSON.parse(row.value) as Key);
}
