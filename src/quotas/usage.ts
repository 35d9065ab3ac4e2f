/** Owns how many bytes an account uses, by kind: counted in the decisions that write and remove them. */
import { limits } from '../limits/service.ts';
import { recordCodec } from '../store/codec.ts';
import type { Batch } from '../store/group-commit.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

/** What is counted here. File sync counts its own, by vault. */
export type CountedKind = 'blobs' | 'documents';

/** Bytes that an account counts for; no row: none. Documents are the kept texts of documents, papers, handoffs and tasks. */
export const accountUsage = defineTable<[accountId: string, kind: CountedKind], { readonly bytes: number }>(
  'account_usage',
  recordCodec(1),
  { account: 0 },
);

export const usageTables: readonly AnyTable[] = [accountUsage];

export function usedBytes(reader: Pick<Batch, 'get'>, accountId: string, kind: CountedKind): number {
  return reader.get(accountUsage, [accountId, kind])?.bytes ?? 0;
}

/** What a text counts for: itself and, however short it is, the rows that find it. */
export function recordBytes(text: string): number {
  return textBytes(Buffer.byteLength(text));
}

/** As `recordBytes`, of a text with so many bytes. */
export function textBytes(sizeBytes: number): number {
  return sizeBytes + limits.recordCountedBytes;
}

/** What a decision has counted so far: it does not read its own puts. */
const counted = new WeakMap<Pick<Batch, 'get'>, Map<string, number>>();

/** Within a decision: so many bytes came (or went, below 0). */
export function countBytes(batch: Batch, accountId: string, kind: CountedKind, bytes: number): void {
  if (bytes === 0) return;
  const totals = counted.get(batch) ?? new Map<string, number>();
  counted.set(batch, totals);
  const name = `${accountId} ${kind}`;
  const total = (totals.get(name) ?? usedBytes(batch, accountId, kind)) + bytes;
  totals.set(name, total);
  batch.put(accountUsage, [accountId, kind], { bytes: total });
}
