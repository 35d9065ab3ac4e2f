/** Defines the tables of document texts: each stored text by version number, and the trash. */
import type { Signed } from '../common/principal.ts';
import { emptyRecordCodec, recordCodec, textCodec } from '../store/codec.ts';
import { type AnyTable, defineTable } from '../store/table.ts';

/** Capability that owns the documents. Each one has its own document numbers. */
export type Space = 'docs' | 'handoffs' | 'papers';

/** Metadata of a version without its text, so that listing loads no texts. Immutable. */
export interface VersionRecord extends Signed {
  /** Bytes of the text in UTF-8. */
  readonly size_bytes: number;
  /** Bytes of the text as a JSON string, including quotes. Predicts the length of a line that contains it. */
  readonly json_bytes: number;
  readonly created_at: string;
}

export type VersionKey = [accountId: string, space: Space, documentId: number, version: number];

export const versionRows = defineTable<VersionKey, VersionRecord>('version_rows', recordCodec(1), { account: 0 });

export const versionTexts = defineTable<VersionKey, string>('version_texts', textCodec, { account: 0 });

/**
 * Entries in the trash, deleted after the retention period. Oldest first over all accounts: a version, or (version 0) a
 * whole document.
 */
export const documentBin = defineTable<
  [sinceMs: number, accountId: string, space: Space, documentId: number, version: number],
  Record<string, never>
>('document_bin', emptyRecordCodec(1), { account: 1 });

export const versionTables: readonly AnyTable[] = [versionRows, versionTexts, documentBin];
