/** Migrates the data file to schema 9: dev docs have no text index of their own; the index over everything finds them. */
import { bytesCodec } from '../../store/codec.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { defineTable } from '../../store/table.ts';

/** The rows as schema 8 has them. */
export const devDocGrams = defineTable<[accountId: string, chunk: number, group: number], Uint8Array>(
  'dev_doc_grams',
  bytesCodec,
  { account: 0 },
);

/** Rows per commit: each has at most 4 KiB. */
const PIECE_ROWS = 2000;

export const noDevDocGrams: Migration = {
  to: 9,
  what: 'dev docs have no text index of their own',
  tables: [devDocGrams],
  check: () => [],
  piece(batch, from) {
    const beyond = from === undefined ? {} : { beyond: from };
    const keys = [...batch.keysIn(devDocGrams, { prefix: [], limit: PIECE_ROWS, ...beyond })];
    for (const key of keys) batch.remove(devDocGrams, key);
    return keys.length < PIECE_ROWS ? undefined : keys.at(-1);
  },
};
