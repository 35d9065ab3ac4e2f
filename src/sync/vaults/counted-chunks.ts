/** Migrates the data file to schema 11: a stored chunk of a large file counts a fixed amount beside its bytes. */
import { recordCodec } from '../../store/codec.ts';
import { intact } from '../../store/intact.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { defineTable } from '../../store/table.ts';
import { type KeptHead, keptHeadCodec } from './kept-per-vault.ts';

/** The rows as schema 10 has them. */
const heads = defineTable<[vaultId: string], KeptHead>('sync_heads', keptHeadCodec, { vault: 0 });
const chunks = defineTable<[vaultId: string, sha256: string], unknown>('sync_chunks', recordCodec(1), { vault: 0 });

const COUNTED_BYTES = 1024;
/** Vaults per commit. */
const PIECE_ROWS = 500;

export const countedChunks: Migration = {
  to: 11,
  what: 'a chunk of a large file counts 1 KiB beside its bytes',
  tables: [],
  check: () => [],
  piece(batch, from) {
    const beyond = from === undefined ? {} : { beyond: from };
    const keys = [...batch.keysIn(heads, { prefix: [], limit: PIECE_ROWS, ...beyond })];
    for (const key of keys) {
      const count = [...batch.keysIn(chunks, { prefix: key })].length;
      // A damaged head stays as it is, for verify to name.
      const head = count === 0 ? undefined : intact(batch, heads, key);
      if (head !== undefined) batch.put(heads, key, { ...head, kept_bytes: head.kept_bytes + count * COUNTED_BYTES });
    }
    return keys.length < PIECE_ROWS ? undefined : keys.at(-1);
  },
};
