/** Defines the tables of dev docs. Members have the names that callers see. Texts are stored as versions. */
import type { Signed } from '../../common/principal.ts';
import { bytesCodec, type Codec, recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';

/** Built-in categories of every account. An account's own categories are those named by its documents. */
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
export interface DevDocRecord extends Signed {
  /** Counted per account and never reused. */
  readonly id: number;
  /** Unique within its category, ignoring case. */
  readonly title: string;
  readonly category: string;
  readonly content_type: ContentType;
  /** Version of the current text, from 1. */
  readonly version: number;
  /** Size of the text in UTF-8, and as a JSON string. */
  readonly size_bytes: number;
  readonly json_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Time of the last change of any kind, which is its position in the order of changes. */
  readonly changed_ms: number;
  /** Time it was moved to the trash; null while it is live. */
  readonly deleted_at: string | null;
}

/** One row per account. */
export interface DevDocHead {
  /** Last number assigned. */
  readonly doc_id: number;
  /** Time of the last change. Changes of an account are at least 1 ms apart, so a time identifies one change. */
  readonly changed_ms: number;
}

/** Codec of a document number in an index row. */
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

/** Documents by folded title: the live one of a category, and the last one moved to the trash. */
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

/** Every document by its last change, including the trash. By scope: all, or one category. */
export const devDocChanges = defineTable<[accountId: string, scope: string, changedMs: number], number>(
  'dev_doc_changes',
  idCodec,
  { account: 0 },
);

/** Number of live documents in a category. No row means none. */
export const devDocCounts = defineTable<[accountId: string, category: string], { readonly docs: number }>(
  'dev_doc_counts',
  recordCodec(1),
  { account: 0 },
);

/** Bits of the live documents that contain a gram; see text-index/gram-index.ts. */
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
