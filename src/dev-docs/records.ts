/** Owns the shape of what dev docs keep in the store. Members are named as callers see them; texts are versions. */
import { bytesCodec, type Codec, recordCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

/** Categories that every account has. An account's own ones are those that its documents name. */
export const CATEGORIES = [
  'claude',
  'cursor',
  'windsurf',
  'copilot',
  'docs',
  'skills',
  'agents',
  'commands',
  'hooks',
  'mcp',
] as const;

export const CONTENT_TYPES = ['markdown', 'json', 'yaml', 'text'] as const;

export type ContentType = (typeof CONTENT_TYPES)[number];

/** A document without its text. */
export interface DevDocRecord {
  /** Counted per account and never given again. */
  readonly id: number;
  /** Unique within its category, compared without case. */
  readonly title: string;
  readonly category: string;
  readonly content_type: ContentType;
  /** Of the text that stands now, from 1. */
  readonly version: number;
  /** The text in UTF-8, and as a JSON string. */
  readonly size_bytes: number;
  readonly json_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** The last change of any kind: its place in the order of changes. */
  readonly changed_ms: number;
  /** When it went to the bin; null: it is live. */
  readonly deleted_at: string | null;
}

/** One row per account. */
export interface DevDocHead {
  /** The last number given. */
  readonly doc_id: number;
  /** The last change. Changes of an account lie at least a millisecond apart, so a time names one. */
  readonly changed_ms: number;
}

/** A document number of an index row. */
const idCodec: Codec<number> = {
  encode(id) {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleBE(id);
    return bytes;
  },
  decode: (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat64(0),
};

export const devDocs = defineTable<[accountId: string, docId: number], DevDocRecord>('dev_docs', recordCodec(1), {
  account: 0,
});

export const devDocHeads = defineTable<[accountId: string], DevDocHead>('dev_doc_heads', recordCodec(1), {
  account: 0,
});

/** Documents by title as it is compared: the live one of a category, and the one that went to the bin last. */
export const devDocTitles = defineTable<
  [accountId: string, title: string, state: 'live' | 'binned', category: string],
  number
>('dev_doc_titles', idCodec, { account: 0 });

/** Live documents by scope: all, one category, one content type, or both. */
export const devDocRows = defineTable<[accountId: string, scope: string, docId: number], Record<string, never>>(
  'dev_doc_rows',
  recordCodec(1),
  { account: 0 },
);

/** Every document at its last change, binned ones too; by scope: all, or one category. */
export const devDocChanges = defineTable<[accountId: string, scope: string, changedMs: number], number>(
  'dev_doc_changes',
  idCodec,
  { account: 0 },
);

/** How many live documents a category has. No row: none. */
export const devDocCounts = defineTable<[accountId: string, category: string], { readonly docs: number }>(
  'dev_doc_counts',
  recordCodec(1),
  { account: 0 },
);

/** Which live documents hold a piece of text, as bits; see the index of grams. */
export const devDocGrams = defineTable<[accountId: string, chunk: number, group: number], Uint8Array>(
  'dev_doc_grams',
  bytesCodec,
  { account: 0 },
);

export const devDocTables: readonly AnyTable[] = [
  devDocs,
  devDocHeads,
  devDocTitles,
  devDocRows,
  devDocChanges,
  devDocCounts,
  devDocGrams,
];
