/** Counts the bytes that an account uses, by kind, in the same decisions that write and remove them. */
import { memo, newMap } from '../common/memo.ts';
import { limits } from '../limits/service.ts';
import { recordCodec } from '../store/codec.ts';
import { type Batch, DecisionMemo } from '../store/group-commit.ts';
import { type AnyTable, defineHeads } from '../store/table.ts';

/** Kinds counted here. File sync counts its own usage by vault. */
export type CountedKind = 'blobs' | 'documents';

/**
 * Counted bytes of an account; no row means 0. Documents are the stored texts of documents, papers, handoffs and tasks.
 */
export const accountUsage = defineHeads<[accountId: string, kind: CountedKind], { readonly bytes: number }>(
  'account_usage',
  recordCodec(1),
  { account: 0 },
);

export const usageTables: readonly AnyTable[] = [accountUsage];

export function usedBytes(reader: Pick<Batch, 'get'>, accountId: string, kind: CountedKind): number {
  return reader.get(accountUsage, [accountId, kind])?.bytes ?? 0;
}

/** Counted bytes of a text: its own, and a fixed amount for the rows that index it. */
export function recordBytes(text: string): number {
  return textBytes(Buffer.byteLength(text));
}

/** Counted bytes of a text of `sizeBytes`, like `recordBytes`. */
export function textBytes(sizeBytes: number): number {
  return sizeBytes + limits.recordCountedBytes;
}

/** Totals counted so far within a decision, by account. */
const counted = new DecisionMemo<Map<CountedKind, number>>();

/** Adds bytes (negative: removes) within a decision. */
export function countBytes(batch: Batch, accountId: string, kind: CountedKind, bytes: number): void {
  if (bytes === 0) return;
  const totals = memo(counted.of(batch), accountId, newMap<CountedKind, number>);
  const total = (totals.get(kind) ?? usedBytes(batch, accountId, kind)) + bytes;
  totals.set(kind, total);
  batch.put(accountUsage, [accountId, kind], { bytes: total });
}
