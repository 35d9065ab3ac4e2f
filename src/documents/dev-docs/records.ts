/** Defines the tables of dev docs. Members have the names that callers see. Texts are stored as versions. */
import { type Codec, emptyRecordCodec, recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';
import type { DevDocRecord } from './declared.ts';

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
  emptyRecordCodec(1),
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

export const devDocTables: readonly AnyTable[] = [
  devDocs,
  devDocHeads,
  devDocTitles,
  devDocRows,
  devDocChanges,
  devDocCounts,
];
