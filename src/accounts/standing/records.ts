/** Owns the tables of what the operator decided about accounts. An account without a row is as any other. */
import type { QuotaBytes } from '../../quotas/quotas.ts';
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable, type Reader } from '../../store/table.ts';

export interface StandingRecord {
  /** Its credentials open nothing since then; null: they do. */
  readonly disabled_at: string | null;
  readonly operator: boolean;
  /** It writes on while the disk is nearly full. */
  readonly keeps_writing: boolean;
  /** Quotas of its own, in bytes; others are the service's. */
  readonly quotas: Partial<QuotaBytes>;
}

export const standings = defineTable<[accountId: string], StandingRecord>('account_standings', recordCodec(1), {
  account: 0,
  directory: 'new',
});

/** Accounts that were deleted and whose rows are being removed. Nothing of them can be reached. */
export const removals = defineTable<[accountId: string], { readonly deleted_at: string }>(
  'account_removals',
  recordCodec(1),
  { account: 0 },
);

export const standingTables: readonly AnyTable[] = [standings, removals];

/** Whether the current rows let anyone sign in to an account. `Standings` knows it too, for the thread that writes. */
export function isOpenInRows(store: Pick<Reader, 'get'>, accountId: string): boolean {
  const isDisabled = (store.get(standings, [accountId])?.disabled_at ?? null) !== null;
  return !isDisabled && store.get(removals, [accountId]) === undefined;
}
