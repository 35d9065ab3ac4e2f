/**
 * Owns the texts of documents: what is taken as one, and how versions of it are written, read and let go of.
 * It knows nothing of the documents themselves; a capability keeps those, and names them by account, space and number.
 */
import type { FieldErrors } from '../fault.ts';
import { limits } from '../limits.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Reader } from '../store/table.ts';
import { type Space, type VersionRecord, versionRows, versionTexts } from './records.ts';

/** One document of one account. */
export interface DocumentName {
  readonly accountId: string;
  readonly space: Space;
  readonly id: number;
}

/** How much a text is, alone and as a JSON string. */
export function measure(text: string): Pick<VersionRecord, 'size_bytes' | 'json_bytes'> {
  return { size_bytes: Buffer.byteLength(text), json_bytes: Buffer.byteLength(JSON.stringify(text)) };
}

/** What is wrong with a text; nothing: it is taken. Empty is a text too. */
export function textErrors(text: string, field = 'content'): FieldErrors {
  if (/\p{Cs}/u.test(text)) return { [field]: [`${field} must be well-formed Unicode`] };
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.documentBytesMax) return {};
  return {
    [field]: [`${field} would have ${bytes} bytes and may have ${limits.documentBytesMax}; split it into several`],
  };
}

/** Writes a version that is not there yet. */
export function putVersion(batch: Batch, name: DocumentName, version: number, text: string, at: string): VersionRecord {
  const record = { ...measure(text), created_at: at };
  const key = keyOf(name, version);
  batch.put(versionRows, key, record);
  batch.put(versionTexts, key, text);
  return record;
}

/** The text of a version; undefined: it is not kept. */
export function readText(reader: Pick<Reader, 'get'>, name: DocumentName, version: number): string | undefined {
  return reader.get(versionTexts, keyOf(name, version));
}

function keyOf({ accountId, space, id }: DocumentName, version: number): [string, Space, number, number] {
  return [accountId, space, id, version];
}
