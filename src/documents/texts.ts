/**
 * Stores the texts of documents: validates, writes, reads and drops their versions. The documents themselves are stored
 * by the capabilities, which identify them by account, space and number.
 */
import { z } from 'zod';
import type { FieldErrors } from '../common/fault.ts';
import { changedBy } from '../common/principal.ts';
import { isWellFormed, WELL_FORMED } from '../fields/kinds.ts';
import { limits } from '../limits/service.ts';
import { countBytes, textBytes } from '../quotas/usage.ts';
import type { Batch } from '../store/group-commit.ts';
import { intact } from '../store/intact.ts';
import type { Reader } from '../store/table.ts';
import { type Space, type VersionKey, type VersionRecord, versionRows, versionTexts } from './records.ts';

/** One document of one account. */
export interface DocumentName {
  readonly accountId: string;
  readonly space: Space;
  readonly id: number;
}

/** A version without its text. */
export interface Version extends VersionRecord {
  readonly version: number;
}

/** Returns the size of a text in bytes, in UTF-8 and as a JSON string. */
export function measure(text: string): Pick<VersionRecord, 'size_bytes' | 'json_bytes'> {
  return { size_bytes: Buffer.byteLength(text), json_bytes: Buffer.byteLength(JSON.stringify(text)) };
}

/** A text sent by a caller. It may be empty. */
export const documentText = z
  .string()
  .max(limits.documentBytesMax, { abort: true })
  .refine((text) => fault(text) === undefined, { error: ({ input }) => fault(input as string) });

/** The number of a version. */
export const docVersion = z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional();

/** Returns the field errors of a text that was joined, or read from an archive. */
export function textErrors(text: string): FieldErrors {
  const why = fault(text);
  return why === undefined ? {} : { content: [`content ${why}`] };
}

function fault(text: string): string | undefined {
  if (!isWellFormed(text)) return WELL_FORMED;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.documentBytesMax) return undefined;
  return `would have ${bytes} bytes, and at most ${limits.documentBytesMax} are allowed; split it into several`;
}

/** Writes a new version. `made`: when, and by whom. */
export function putVersion(
  batch: Batch,
  name: DocumentName,
  version: number,
  text: string,
  made: { readonly at: string; readonly by: string | undefined },
): void {
  const key = versionKey(name, version);
  const measured = measure(text);
  countBytes(batch, name.accountId, 'documents', textBytes(measured.size_bytes));
  batch.put(versionRows, key, changedBy<VersionRecord>({ ...measured, created_at: made.at }, made.by));
  batch.put(versionTexts, key, text);
}

/** Drops a version if it is stored. */
export function dropVersion(batch: Batch, name: DocumentName, version: number): void {
  const key = versionKey(name, version);
  const kept = intact(batch, versionRows, key);
  if (kept !== undefined) countBytes(batch, name.accountId, 'documents', -textBytes(kept.size_bytes));
  batch.remove(versionRows, key);
  batch.remove(versionTexts, key);
}

/** Drops every version of a document. */
export function dropDocument(batch: Batch, name: DocumentName): void {
  const { accountId, space, id } = name;
  for (const key of batch.keys(versionRows, [accountId, space, id])) dropVersion(batch, name, key[3]);
}

/** Returns the text of a version, or undefined when it is not stored. */
export function readText(reader: Pick<Reader, 'get'>, name: DocumentName, version: number): string | undefined {
  return reader.get(versionTexts, versionKey(name, version));
}

/** Returns the text of a version that must exist. Throws Error when it is missing. */
export function keptText(reader: Pick<Reader, 'get'>, name: DocumentName, version: number): string {
  const text = readText(reader, name, version);
  if (text === undefined) throw new Error(`the text of ${name.space} ${name.id} version ${version} is missing`);
  return text;
}

export function readVersion(reader: Pick<Reader, 'get'>, name: DocumentName, version: number): Version | undefined {
  const record = reader.get(versionRows, versionKey(name, version));
  return record && { version, ...record };
}

/** Returns the stored versions, oldest first. */
export function versionsOf(reader: Pick<Reader, 'range'>, { accountId, space, id }: DocumentName): Version[] {
  const rows = reader.range(versionRows, { prefix: [accountId, space, id] });
  return rows.map(({ key, value }) => ({ version: key[3], ...value }));
}

function versionKey({ accountId, space, id }: DocumentName, version: number): VersionKey {
  return [accountId, space, id, version];
}
