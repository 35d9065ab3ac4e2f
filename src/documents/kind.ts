/**
 * Defines what a kind of documents declares. Writing, reading, versions, the trash, integrity checks and the archive
 * follow from it, once for all kinds.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ArchiveSection } from '../archive/format.ts';
import { type Instant, id } from '../archive/records.ts';
import type { Signed } from '../common/principal.ts';
import { computedField, hubField } from '../fields/record.ts';
import type { CheckedReader } from '../store/checked-reader.ts';
import type { Batch } from '../store/group-commit.ts';
import type { AnyTable, Key, Reader, Table } from '../store/table.ts';
import type { Space } from './records.ts';

/** What the record of every document has. The text is stored as a version. */
export interface DocumentRecord extends Signed {
  /** Counted per account and never reused. */
  readonly id: number;
  /** Version of the current text, from 1. */
  readonly version: number;
  readonly size_bytes: number;
  readonly json_bytes: number;
  readonly updated_at: string;
  /** Time it was moved to the trash; null while it is live. Absent: this kind is not moved to the trash. */
  readonly deleted_at?: string | null;
}

/** The fields that the record of every document declares. `rises`: when the version does. */
export const textFields = (rises: string, sizeBytes: number) => ({
  /** Version of the current text, from 1. */
  version: hubField(z.int().positive().describe(rises), { archived: () => id, example: 1 }),
  size_bytes: hubField(z.int().nonnegative().describe('Of the content in UTF-8'), {
    archived: undefined,
    example: sizeBytes,
  }),
  /** Size of the text as a JSON string. */
  json_bytes: computedField<number>(),
});

/** A document in a decision. */
export interface HeldDocument<R> {
  readonly record: R;
  /** Reads its text. */
  readonly text: () => string;
}

/** A row by which a document is found. */
export interface IndexRow {
  readonly table: AnyTable;
  /** Unique among the rows of a document. */
  readonly name: string;
  /** Describes the document without this row. */
  readonly missing: string;
  put(batch: Batch): void;
  remove(batch: Batch): void;
  isIn(reader: Pick<Reader, 'get'>): boolean;
}

export function indexRow<K extends Key, V>(table: Table<K, V>, key: K, value: V, missing: string): IndexRow {
  return {
    table,
    name: `${table.name} ${JSON.stringify(key)}`,
    missing,
    put: (batch) => batch.put(table, key, value),
    remove: (batch) => batch.remove(table, key),
    isIn: (reader) => isDeepStrictEqual(reader.get(table, key), value),
  };
}

/** Checks what a kind stores in addition to its index rows. */
export interface KindCheck<R> {
  check(name: string, accountId: string, record: R): void;
  /** Call it after the last document. */
  finish?(): void;
}

/** What an archive has of a document: not what follows from its text. */
export type ArchivedDocument<R extends DocumentRecord> = Omit<R, 'size_bytes' | 'json_bytes' | 'preview'>;

/** True when the account has this category of tasks and papers. */
export type HasCategory = (id: number) => boolean;

/** What precedes a document in an archive: the counters, and the place of the previous document or 0. */
interface Place<H> {
  readonly last: number;
  readonly head: H;
}

/** The form of a kind in an archive: a line with counters, then a line for each document. */
interface ArchivedKind<
  R extends DocumentRecord,
  H,
  C extends z.ZodObject = z.ZodObject,
  L extends z.ZodObject = z.ZodObject,
> {
  readonly section: ArchiveSection;
  /** Type of the lines with documents. */
  readonly type: string;
  counters(instant: Instant): C;
  line(instant: Instant): L;
  /** Returns the place of a document in the archive, from 1. */
  order(document: ArchivedDocument<R>): number;
  /** `last`: the greatest number and place of a document. The head may be missing, or too low when it is damaged. */
  countersOf(head: H | undefined, last: { readonly id: number; readonly place: number }): z.output<C>;
  headOf(counters: z.output<C>): H;
  lineOf(document: ArchivedDocument<R>, hasCategory: HasCategory): Omit<z.output<L>, 'type'>;
  /** Throws Refusal `invalid_fields` for a document that the hub could not have stored. */
  read(line: Omit<z.output<L>, 'type'>, place: Place<H>, hasCategory: HasCategory): ArchivedDocument<R>;
  /** Throws Refusal `invalid_fields` for a document that contradicts an earlier one of the archive. */
  admit?(batch: Batch, accountId: string, record: R): void;
}

export interface DocumentKind<
  R extends DocumentRecord,
  H,
  C extends z.ZodObject = z.ZodObject,
  L extends z.ZodObject = z.ZodObject,
> {
  readonly space: Space;
  /** Name in sentences. */
  readonly one: string;
  readonly records: Table<[accountId: string, id: number], R>;
  /** One row per account: at least the last number assigned. */
  readonly heads: Table<[accountId: string], H>;
  lastId(head: H): number;
  /** What people call a document. */
  nameOf(record: R): string;
  /** The fields that callers set. */
  readonly fields: readonly string[];
  /** Number of versions kept, with the current one. `days`: a replaced version goes to the trash. */
  readonly keeps: number | 'days';
  /** Returns what the record has of its text. */
  factsOf(text: string): Omit<R, keyof ArchivedDocument<R>>;
  /** Returns the rows by which a document is found, with and without being in the trash. */
  rowsOf(accountId: string, record: R): IndexRow[];
  /** The tables of these rows, by their name in reports. */
  readonly indexes: Readonly<Record<string, AnyTable>>;
  /** Updates rows that several documents share, or that depend on the text. */
  moveShared?(
    batch: Batch,
    accountId: string,
    before: HeldDocument<R> | undefined,
    after: HeldDocument<R> | undefined,
  ): void;
  checkShared?(reader: CheckedReader, problems: string[]): KindCheck<R>;
  readonly archive: ArchivedKind<R, H, C, L>;
}

/** Declares a kind. Its callers know only the common form of its lines in archives. */
export function defineKind<R extends DocumentRecord, H, C extends z.ZodObject, L extends z.ZodObject>(
  kind: DocumentKind<R, H, C, L>,
): DocumentKind<R, H> {
  return kind as unknown as DocumentKind<R, H>;
}
