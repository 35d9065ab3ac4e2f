/**
 * Stores the schema version of a data file and migrates older files: step by step, each step in small pieces. Each
 * piece is one commit that also stores the start of the next piece, so an interrupted migration resumes where it
 * stopped.
 */

import { crc32 } from 'node:zlib';
import { version } from '../../common/version.ts';
import type { Batch } from '../group-commit.ts';
import { UPGRADE } from '../owners.ts';
import { DamagedRow } from '../row-sums.ts';
import type { Store } from '../store.ts';
import type { AnyTable, Key, Reader } from '../table.ts';
import { meta, type SchemaRow, schemaRows } from './meta.ts';

const VERSION_ROW = 'schema';
/** The same number again, for a file whose first row is damaged: a wrong number would migrate rows twice. */
const COPY_ROW = 'schema_copy';
const PROGRESS_ROW = 'migration';
/** From this schema on, the rows of the schema have a checksum. */
const SUMMED_SINCE = 8;

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

type MetaReader = Pick<Reader, 'get'>;

/** The schema of a data file; 1 for files from before schemas had numbers. Throws DamagedRow. */
export function schemaOf(reader: MetaReader): number {
  try {
    const row = readChecked(reader, VERSION_ROW);
    // A file with checksums has a schema; without its row it would be migrated from the first one on.
    if (row !== undefined || reader.get(meta, [COPY_ROW]) === undefined) return Number(row?.value ?? 1);
  } catch {
    // Damaged: its copy is read instead, and a check names the row.
  }
  const copy = reader.get(meta, [COPY_ROW]);
  if (copy === undefined) throw new DamagedRow(meta.name, [VERSION_ROW]);
  return Number(copy.value);
}

/** The version of Cairn that last changed the schema of a data file, if it is known. */
export function writerOf(reader: MetaReader): string | undefined {
  try {
    return reader.get(schemaRows, [VERSION_ROW])?.cairn;
  } catch {
    // A damaged row: the schema is read from its copy, which does not name the version.
    return undefined;
  }
}

/** The keys of damaged rows of the schema. */
export function damagedSchemaRows(reader: MetaReader): string[] {
  return [VERSION_ROW, PROGRESS_ROW].filter((name) => {
    try {
      const isMissing = readChecked(reader, name) === undefined;
      return isMissing && name === VERSION_ROW && reader.get(meta, [COPY_ROW]) !== undefined;
    } catch {
      return true;
    }
  });
}

/** The schema that an interrupted migration was making; undefined: none was interrupted. */
export function migratingTo(reader: MetaReader): number | undefined {
  const row = readChecked(reader, PROGRESS_ROW);
  return row === undefined ? undefined : (row.to ?? schemaOf(reader) + 1);
}

/** True for a data file that no hub has written yet. */
export function isUnwritten(reader: Pick<Reader, 'keys'>): boolean {
  return reader.keys(meta).next().done === true;
}

/** Writes the schema version. Call it within the first commit of a new data file. */
export function putSchema(batch: Batch, schema: number): void {
  putChecked(batch, VERSION_ROW, { value: String(schema), cairn: version });
  if (schema >= SUMMED_SINCE) batch.put(meta, [COPY_ROW], { value: String(schema) });
}

/** Throws DamagedRow when the checksum inside the row does not match, or is missing. */
function readChecked(reader: MetaReader, name: string): SchemaRow | undefined {
  const row = reader.get(schemaRows, [name]);
  if (row === undefined) return undefined;
  const isOld = row.sum === undefined && reader.get(meta, [COPY_ROW]) === undefined;
  if (!isOld && row.sum !== sumOf(name, row)) throw new DamagedRow(meta.name, [name]);
  return row;
}

function putChecked(batch: Batch, name: string, row: Omit<SchemaRow, 'sum'>): void {
  batch.put(schemaRows, [name], { ...row, sum: sumOf(name, row) });
}

const sumOf = (name: string, { value, cairn, to }: SchemaRow): number =>
  crc32(JSON.stringify([name, value, cairn ?? '', to ?? 0]));

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
    batch.remove(schemaRows, [PROGRESS_ROW]);
    putSchema(batch, step.to);
  } else {
    putChecked(batch, PROGRESS_ROW, { value: JSON.stringify(next), to: step.to });
  }
  return next;
}

function progressOf(store: Store): Key | undefined {
  const row = readChecked(store, PROGRESS_ROW);
  return row === undefined ? undefined : (JSON.parse(row.value) as Key);
}
