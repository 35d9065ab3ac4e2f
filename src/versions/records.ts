/** Owns the tables of document texts: each text that is kept, under the number of its version, and what leaves when. */
import { recordCodec, textCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

/** Whose documents: each capability numbers its own. */
export type Space = 'docs' | 'handoffs' | 'papers';

/** What is known of a version without its text, so that no list loads one. Never changed once written. */
export interface VersionRecord {
  /** Of the text in UTF-8. */
  readonly size_bytes: number;
  /** Of the text as a JSON string, quotes included: how long a line with it will be. */
  readonly json_bytes: number;
  readonly created_at: string;
}

export type VersionKey = [accountId: string, space: Space, documentId: number, version: number];

export const versionRows = defineTable<VersionKey, VersionRecord>('version_rows', recordCodec(1), { account: 0 });

export const versionTexts = defineTable<VersionKey, string>('version_texts', textCodec, { account: 0 });

/** What leaves for good after its days, oldest first over all accounts: a version, or (version 0) a whole document. */
export const documentBin = defineTable<
  [sinceMs: number, accountId: string, space: Space, documentId: number, version: number],
  Record<string, never>
>('document_bin', recordCodec(1), { account: 1 });

export const versionTables: readonly AnyTable[] = [versionRows, versionTexts, documentBin];
