/** Pure decisions of the mirror: header forms, what an upload does to what is there, which page a list shows. */
import { type FieldErrors, Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { BlobRecord, MirrorHead } from './records.ts';

export interface UploadFields {
  readonly commitSha: string;
  /** Lower-case hex, whichever case was sent. */
  readonly sha256: string;
  /** The 32 bytes of the HMAC. */
  readonly signature: Uint8Array;
  readonly uploadedBy: string | null;
}

export function isCommitSha(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

export function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text);
}

/** Reads the upload's own headers (interface specification, 4.2). Refuses all wrong ones in one answer. */
export function readUploadFields(header: (name: string) => string | undefined): UploadFields {
  const errors: Record<string, string[]> = {};
  const take = (name: string, field: string, valid: (text: string) => boolean, sentence: string): string => {
    const value = header(name);
    if (value !== undefined && valid(value)) return value;
    errors[field] = [value === undefined ? `${field} is missing; ${sentence}` : sentence];
    return '';
  };
  const commitSha = take(
    'x-commit-sha',
    'X-Commit-Sha',
    isCommitSha,
    'X-Commit-Sha must be 40 lower-case hex characters',
  );
  const sha256 = take(
    'x-tarball-sha256',
    'X-Tarball-Sha256',
    isSha256,
    'X-Tarball-Sha256 must be the 64 hex characters of the body’s SHA-256',
  );
  const signature = take(
    'x-mirror-signature',
    'X-Mirror-Signature',
    (text) => /^sha256=[0-9a-f]{64}$/i.test(text),
    'X-Mirror-Signature must be sha256= and the 64 hex characters of the body’s HMAC-SHA256',
  );
  const uploadedBy = header('x-uploaded-by') ?? null;
  if (uploadedBy !== null && !isLabel(uploadedBy)) {
    errors['X-Uploaded-By'] = [
      `X-Uploaded-By must have at most ${limits.uploadedByCharsMax} characters, all printable ASCII`,
    ];
  }
  if (Object.keys(errors).length > 0) throw new Refusal({ kind: 'invalid_fields', fields: errors as FieldErrors });
  return {
    commitSha,
    sha256: sha256.toLowerCase(),
    signature: Buffer.from(signature.slice('sha256='.length), 'hex'),
    uploadedBy: uploadedBy === '' ? null : uploadedBy,
  };
}

export function isLabel(text: string): boolean {
  return text.length <= limits.uploadedByCharsMax && /^[\x20-\x7e]*$/.test(text);
}

export interface PublishInput {
  readonly existing: BlobRecord | undefined;
  readonly head: MirrorHead | undefined;
  readonly credentialId: string;
  readonly storageId: number;
  readonly byteSize: number;
  readonly uploadedBy: string | null;
  readonly nowMs: number;
}

export type PublishOutcome =
  /** The same blob under the same credential: a retry. Nothing changes. */
  | { readonly kind: 'kept'; readonly record: BlobRecord }
  /** The same blob, signed under a new credential: its stored bytes stay, its place and credential are new. */
  | { readonly kind: 'rebound'; readonly record: BlobRecord; readonly formerSequence: number }
  | { readonly kind: 'stored'; readonly record: BlobRecord };

/** What a verified upload does. Time never runs backwards within one account, whatever the clock does. */
export function decidePublish(input: PublishInput): PublishOutcome {
  const { existing, head } = input;
  if (existing !== undefined && existing.credential_id === input.credentialId) {
    return { kind: 'kept', record: existing };
  }
  const lastMs = head === undefined ? 0 : Date.parse(head.uploaded_at);
  const record: BlobRecord = {
    storage_id: existing?.storage_id ?? input.storageId,
    byte_size: input.byteSize,
    uploaded_at: new Date(Math.max(input.nowMs, lastMs)).toISOString(),
    uploaded_by: input.uploadedBy,
    credential_id: input.credentialId,
    sequence: (head?.sequence ?? 0) + 1,
  };
  return existing === undefined
    ? { kind: 'stored', record }
    : { kind: 'rebound', record, formerSequence: existing.sequence };
}

export interface ListPage {
  readonly limit: number;
  /** Only blobs uploaded before this place. */
  readonly before?: number;
}

/** Reads the query of a list. */
export function readListPage(query: URLSearchParams): ListPage {
  const errors: Record<string, string[]> = {};
  const limit = readWhole(query.get('limit'), limits.blobPageDefault);
  if (limit === undefined || limit < 1 || limit > limits.blobPageMax) {
    errors['limit'] = [`limit must be a whole number from 1 to ${limits.blobPageMax}`];
  }
  const before = readWhole(query.get('before'), Number.MAX_SAFE_INTEGER);
  if (before === undefined || before < 1) {
    errors['before'] = ['before must be the value that the Link header of the last page gave'];
  }
  if (limit === undefined || before === undefined || Object.keys(errors).length > 0) {
    throw new Refusal({ kind: 'invalid_fields', fields: errors });
  }
  return before === Number.MAX_SAFE_INTEGER ? { limit } : { limit, before };
}

function readWhole(text: string | null, absent: number): number | undefined {
  if (text === null) return absent;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
