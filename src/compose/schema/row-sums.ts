/** Migrates the data file to schema 8: every row has a checksum. */
import { devDocCounts } from '../../documents/dev-docs/records.ts';
import { bytesCodec } from '../../store/codec.ts';
import type { Batch } from '../../store/group-commit.ts';
import { type MetaRow, meta, SCHEMA_ROWS } from '../../store/meta/meta.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { type AnyTable, defineUnsummedTable, type Key, type Table } from '../../store/table.ts';
import { allTables } from '../tables.ts';
import { devDocGrams } from './no-dev-doc-grams.ts';

/** Rows read at once: each has at most 1 MiB. */
const READ_ROWS = 32;
/** Rows and bytes of a commit. */
const PIECE_ROWS = 4_000;
const PIECE_BYTES = 4 * 1024 * 1024;

/** The tables of that time, in their order: an interrupted migration goes on with the table that it stands in. */
const tablesThen = allTables.flatMap((table) => (table === devDocCounts ? [table, devDocGrams] : [table]));
const summed = tablesThen.filter(({ name, sums }) => sums !== undefined && name !== meta.name);

/**
 * The first piece is the metadata: from then on older versions refuse the file. A further one is a part of a table, and
 * its place is the table and the last key. Rows are summed as they are: those that cannot be read stay so.
 */
export const rowSums: Migration = {
  to: 8,
  what: 'rows have checksums',
  tables: [devDocGrams],
  check: () => [],
  piece(batch, from) {
    if (from === undefined) {
      sumMeta(batch);
      return placeIn(summed[0]);
    }
    const [name, ...after] = from;
    const at = summed.findIndex((table) => table.name === name);
    const table = summed[at];
    if (table === undefined) throw new Error(`the migration stands in a table that is unknown: ${name}`);
    const last = sumRows(batch, table, after);
    return last === undefined ? placeIn(summed[at + 1]) : [table.name, ...last];
  },
};

const placeIn = (table: AnyTable | undefined): Key | undefined => table && [table.name];

function sumMeta(batch: Batch): void {
  const rows = [...batch.keys(meta)].filter(([name]) => !SCHEMA_ROWS.has(name));
  for (const key of rows) batch.put(meta, key, batch.get(meta, key) as MetaRow);
}

/** Sums rows after a key. Returns the last one, or undefined at the end of the table. */
function sumRows(batch: Batch, { name, sums }: AnyTable, after: Key): Key | undefined {
  const before = defineUnsummedTable<Key, Uint8Array>(name, bytesCodec, {});
  const now: Table<Key, Uint8Array> = { ...before, sums };
  let [last, rows, bytes] = [after, 0, 0];
  while (rows < PIECE_ROWS && bytes < PIECE_BYTES) {
    const found = batch.range(before, { prefix: [], limit: READ_ROWS, ...(last.length > 0 ? { beyond: last } : {}) });
    for (const { key, value } of found) {
      batch.put(now, key, value);
      last = key;
      bytes += value.length;
    }
    rows += found.length;
    if (found.length < READ_ROWS) return undefined;
  }
  return last;
}
