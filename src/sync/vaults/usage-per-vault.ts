/** Migrates the data file to schema 3: replaces the usage row of an account with one row per vault. */
import { recordCodec } from '../../store/codec.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { defineUnsummedTable } from '../../store/table.ts';
import { numbersCodec } from '../log/codecs.ts';

/** Fields of the head of a vault before schema 5. */
export const HEAD_FIELDS = [
  'seq',
  'stored_ms',
  'hlc_ms',
  'hlc_counter',
  'files',
  'tombstones',
  'bytes',
  'line_bytes',
  'pending',
] as const;
export type Head = Readonly<Record<(typeof HEAD_FIELDS)[number], number>>;
export const headCodec = numbersCodec<Head>(HEAD_FIELDS);
const usageCodec = numbersCodec<{ readonly bytes: number }>(['bytes']);

/** The rows as this migration reads them. */
const usage = defineUnsummedTable<[accountOrVaultId: string], { readonly bytes: number }>('sync_usage', usageCodec, {});
const vaults = defineUnsummedTable<[accountId: string, vaultId: string], object>('sync_vaults', recordCodec(1), {});
const heads = defineUnsummedTable<[vaultId: string], Head>('sync_heads', headCodec, {});
const pending = defineUnsummedTable<[vaultId: string, path: string, id: string], object>(
  'sync_pending',
  recordCodec(1),
  {},
);
const conflicts = defineUnsummedTable<[vaultId: string, id: string], { readonly size_bytes: number }>(
  'sync_conflicts',
  recordCodec(1),
  {},
);

export const usagePerVault: Migration = {
  to: 3,
  what: 'what a vault uses is a row of the vault',
  tables: [],
  check: () => [],
  /** One account per piece. The commit removes its row, so the first remaining row is always the next. */
  piece(batch) {
    const [first] = batch.range(usage, { prefix: [], limit: 1 });
    const accountId = first?.key[0];
    // Vault ids sort after account ids.
    if (accountId === undefined || accountId.startsWith('v_')) return undefined;
    for (const [, vaultId] of batch.keys(vaults, [accountId])) {
      let bytes = batch.get(heads, [vaultId])?.bytes ?? 0;
      for (const [, , id] of batch.keys(pending, [vaultId]))
        bytes += batch.get(conflicts, [vaultId, id])?.size_bytes ?? 0;
      if (bytes > 0) batch.put(usage, [vaultId], { bytes });
    }
    batch.remove(usage, [accountId]);
    return [accountId];
  },
};
