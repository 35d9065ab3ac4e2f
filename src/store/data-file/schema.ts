/**
 * Owns the schema version of a data file and how an older file becomes a newer one: step by step, each step in small pieces
 * of one commit, which also notes where the next piece begins. So a migration may be cut off anywhere and goes on there.
 */

import type { Batch } from '../group-commit.ts';
import { meta } from '../meta.ts';
import { UPGRADE } from '../owners.ts';
import type { Store } from '../store.ts';
import type { AnyTable, Key, Reader } from '../table.ts';

const VERSION_ROW = 'schema';
const PROGRESS_ROW = 'migration';

/** One step from a schema to the next. What it reads of older rows it declares itself: later code forgets them. */
export interface Migration {
  /** The schema that it makes, of the one before. */
  readonly to: number;
  /** What changes, for the log. */
  readonly what: string;
  /** Tables that are needed and no longer, or not yet, among those of the service. */
  readonly tables: readonly AnyTable[];
  /** Returns one sentence for each thing that stops the step. It only reads. */
  check(store: Store): readonly string[];
  /** Migrates one piece within a commit, from a place that a piece before it returned. Returns undefined after the last. */
  piece(batch: Batch, from: Key | undefined): Key | undefined;
}

/** The schema of a data file. A file of the time before schemas had numbers has 1. */
export function schemaOf(reader: Pick<Reader, 'get'>): number {
  return Number(reader.get(meta, [VERSION_ROW])?.value ?? 1);
}

/** Whether a migration was begun and cut off. */
export function isMigrating(reader: Pick<Reader, 'get'>): boolean {
  return reader.get(meta, [PROGRESS_ROW]) !== undefined;
}

/** Within the first commit of a new data file. */
export function putSchema(batch: Batch, schema: number): void {
  batch.put(meta, [VERSION_ROW], { value: String(schema) });
}

/**
 * Runs the steps that a data file still needs, from where it was cut off. `onPiece` hears of each commit.
 * Rejects with what a piece throws; what was committed before stays.
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
