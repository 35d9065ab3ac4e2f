/**
 * Defines the tables of packs: lines of adjacent versions that were current, copied into one value each, because
 * sending a hundred thousand small lines one by one costs many times as much as sending a few hundred packs. Packs can
 * be rebuilt from the versions.
 */
import { bytesCodec, recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

/** The index of each pack, by the first sequence number of its range. The ranges of a vault have no gaps. */
export const packs = defineTable<[vaultId: string, first: number], Uint8Array>('sync_packs', bytesCodec, { vault: 0 });

/** Lines of a pack that are no longer current, as bits; no row: none. Lines replaced by the tail are not included. */
export const packDead = defineTable<[vaultId: string, first: number], Uint8Array>('sync_pack_dead', bytesCodec, {
  vault: 0,
});

/** The lines of a pack, concatenated. */
export const packBytes = defineTable<[packId: number], Uint8Array>('sync_pack_bytes', bytesCodec, { staging: 'any' });

/** Packs that no index names: not yet, or no longer while a stream still reads them. Removed at start. */
export const loosePacks = defineTable<[packId: number], { readonly since: string }>(
  'sync_loose_packs',
  recordCodec(1),
  { staging: 'any', vault: 'any', sweep: 'any' },
);

export const packTables: readonly AnyTable[] = [packs, packDead, packBytes, loosePacks];
