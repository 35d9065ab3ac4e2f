/** Migrates the data file to schema 5: the head of a vault counts all bytes kept in the vault. */
import { bytesCodec, recordCodec } from '../../store/codec.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { defineUnsummedTable, type Key } from '../../store/table.ts';
import { numbersCodec } from '../log/codecs.ts';
import { HEAD_FIELDS, type Head, headCodec } from './usage-per-vault.ts';

/** The head of a vault since schema 5. */
export type KeptHead = Head & { readonly kept_bytes: number };
export const keptHeadCodec = numbersCodec<KeptHead>([...HEAD_FIELDS, 'kept_bytes']);

/** The rows as this migration reads and writes them. */
const oldHeads = defineUnsummedTable<[vaultId: string], Head>('sync_heads', headCodec, {});
const newHeads = defineUnsummedTable<[vaultId: string], KeptHead>('sync_heads', keptHeadCodec, {});
const versions = defineUnsummedTable<[vaultId: string, seq: number], Uint8Array>('sync_versions', bytesCodec, {});
const conflicts = defineUnsummedTable<[vaultId: string, id: string], { readonly size_bytes: number }>(
  'sync_conflicts',
  recordCodec(1),
  {},
);

const COUNTED_BYTES = 1024;
/** Offset of the content size in the head of a version. */
const SIZE_AT = 24;
/** Versions per commit. Each can have 64 KiB, and all of a piece are in memory. */
const PIECE_ROWS = 500;
const FIRST_PASS = 0;

/**
 * A piece is a vault, or `PIECE_ROWS` of its versions. The place contains where in the vault the next piece begins and
 * the count before it, so a repeated piece counts nothing twice.
 */
export const keptPerVault: Migration = {
  to: 5,
  what: 'what a vault keeps is counted',
  tables: [],
  check: () => [],
  piece(batch, from) {
    const [vaultId, seq, counted] = (from ?? ['', FIRST_PASS, 0]) as [string, number, number];
    if (seq !== FIRST_PASS) return countOn(batch, vaultId, seq, counted);
    const beyond = vaultId === '' ? {} : { beyond: vaultId };
    const [next] = batch.range(oldHeads, { prefix: [], limit: 1, ...beyond });
    return next === undefined ? undefined : countOn(batch, next.key[0], FIRST_PASS, 0);
  },
};

function countOn(batch: Batch, vaultId: string, after: number, countedBefore: number): Key {
  const beyond = after === FIRST_PASS ? {} : { beyond: after };
  const rows = batch.range(versions, { prefix: [vaultId], limit: PIECE_ROWS, ...beyond });
  let counted = countedBefore;
  for (const { value } of rows) counted += sizeOf(value) + COUNTED_BYTES;
  const last = rows.at(-1);
  if (last !== undefined && rows.length === PIECE_ROWS) return [vaultId, last.key[1], counted];
  for (const { value } of batch.range(conflicts, { prefix: [vaultId] })) counted += value.size_bytes + COUNTED_BYTES;
  const head = batch.get(oldHeads, [vaultId]);
  if (head !== undefined) batch.put(newHeads, [vaultId], { ...head, kept_bytes: counted });
  return [vaultId, FIRST_PASS, 0];
}

function sizeOf(version: Uint8Array): number {
  return new DataView(version.buffer, version.byteOffset, version.byteLength).getFloat64(SIZE_AT, true);
}
