/** Defines the tables of papers. Members have the names that callers see. Texts are stored as versions. */
import type { Signed } from '../../common/principal.ts';
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

/** A paper without its text. */
export interface PaperRecord extends Signed {
  /** Counted per account and never reused. */
  readonly id: number;
  readonly title: string;
  /** A category of the account. A deleted category is shown as null. */
  readonly category_id: number | null;
  readonly published: boolean;
  /** Time it was published; null for a draft. */
  readonly published_at: string | null;
  /** Version of the text, from 1. */
  readonly version: number;
  /** Size of the text in UTF-8, and as a JSON string. */
  readonly size_bytes: number;
  readonly json_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Time it was moved to the trash; null while it is live. */
  readonly deleted_at: string | null;
}

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
  recordCodec(1),
  { account: 0 },
);

export const paperTables: readonly AnyTable[] = [papers, paperHeads, paperRows];
