/** Defines the table of a data file's metadata: proof of the master key, epoch, newest time and others. */
import { bytesCodec, type Codec, recordCodec } from '../codec.ts';
import { sumsOf } from '../row-sums.ts';
import { type AnyTable, defineUnsummedTable, type Reader, type Table } from '../table.ts';

export interface MetaRow {
  readonly value: string;
}

const NAME = 'meta';
/** Rows from before checksums. */
const UNSUMMED = 1;
const unsummed = recordCodec<MetaRow>(UNSUMMED);
const summed = recordCodec<MetaRow>(2);
const codec: Codec<MetaRow> = {
  encode: (row) => summed.encode(row),
  decode: (bytes) => (bytes[0] === UNSUMMED ? unsummed : summed).decode(bytes),
};

/**
 * The versions of Cairn up to 0.1 refuse a row of version 2, so none of them writes into a file with checksums: the
 * oldest ones do not read the schema, but `key_check`, which is such a row.
 */
export const meta: Table<[name: string], MetaRow> = {
  name: NAME,
  codec,
  owners: { hub: 'any' },
  sums: sumsOf(NAME, { unsummed: UNSUMMED }),
};

/** Rows that every version since the first schema number reads: the schema. They have a checksum of their own. */
export interface SchemaRow extends MetaRow {
  /** The version of Cairn that wrote it. */
  readonly cairn?: string;
  /** Of an interrupted migration: the schema that it makes. */
  readonly to?: number;
  readonly sum?: number;
}

const bytes = defineUnsummedTable<[name: string], Uint8Array>(NAME, bytesCodec, {});

/** Their names. */
export const SCHEMA_ROWS: ReadonlySet<string> = new Set(['schema', 'migration']);

export const schemaRows = defineUnsummedTable<[name: string], SchemaRow>(NAME, recordCodec(UNSUMMED), { hub: 'any' });

/** Rows other than the schema that were written without a checksum, by an older version of Cairn. */
export function oldMetaRows(reader: Pick<Reader, 'keys' | 'view'>): string[] {
  const names = [...reader.keys(meta)].map(([name]) => name).filter((name) => !SCHEMA_ROWS.has(name));
  return names.filter((name) => reader.view(bytes, [name])?.[0] === UNSUMMED);
}

export const metaTables: readonly AnyTable[] = [meta];
