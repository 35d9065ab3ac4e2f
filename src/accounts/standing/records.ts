/** Defines the tables of account states set by the operator. An account without a row has the defaults. */
import type { QuotaBytes } from '../../quotas/quotas.ts';
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

export interface StandingRecord {
  /** Since then its credentials are refused; null: the account is enabled. */
  readonly disabled_at: string | null;
  readonly operator: boolean;
  /** Writes are accepted even while the disk is nearly full. */
  readonly keeps_writing: boolean;
  /** Quotas set for this account, in bytes; missing ones are the hub's defaults. */
  readonly quotas: Partial<QuotaBytes>;
}

export const standings = defineTable<[accountId: string], StandingRecord>('account_standings', recordCodec(1), {
  account: 0,
  directory: 'new',
});

/** Deleted accounts whose rows are being removed. Their data is unreachable. */
export const removals = defineTable<[accountId: string], { readonly deleted_at: string }>(
  'account_removals',
  recordCodec(1),
  { account: 0 },
);

export const standingTables: readonly AnyTable[] = [standings, removals];
