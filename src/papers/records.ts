/** Owns the shape of what papers keep in the store. Members are named as callers see them; texts are versions. */
import { recordCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

/** A paper without its text. */
export interface PaperRecord {
  /** Counted per account and never given again. */
  readonly id: number;
  readonly title: string;
  /** A category of the account; one that is gone reads as none. */
  readonly category_id: number | null;
  readonly published: boolean;
  /** Since when it is published; null: it is a draft. */
  readonly published_at: string | null;
  /** Of the text, from 1. */
  readonly version: number;
  /** The text in UTF-8, and as a JSON string. */
  readonly size_bytes: number;
  readonly json_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** When it went to the bin; null: it is live. */
  readonly deleted_at: string | null;
}

/** One row per account: the last number given. */
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
