/** Defines the tables of papers. Members have the names that callers see. Texts are stored as versions. */
import { emptyRecordCodec, recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';
import type { PaperRecord } from './declared.ts';

/** One row per account: the last number assigned. */
export interface PaperHead {
  readonly paper_id: number;
}

export const papers = defineTable<[accountId: string, paperId: number], PaperRecord>('papers', recordCodec(1), {
  account: 0,
});

export const paperHeads = defineTable<[accountId: string], PaperHead>('paper_heads', recordCodec(1), { account: 0 });

/** Live papers by scope: all, published or drafts, one category, or both. */
export const paperRows = defineTable<[accountId: string, scope: string, paperId: number], Record<string, never>>(
  'paper_rows',
  emptyRecordCodec(1),
  { account: 0 },
);

export const paperTables: readonly AnyTable[] = [papers, paperHeads, paperRows];
