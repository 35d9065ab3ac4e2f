/** Declares the fields of a stored archive. Uploads, answers and an account's archive follow from it. */
import { z } from 'zod';
import { id, sha256Hex } from '../archive/records.ts';
import { computedField, declareRecord, hubField, type RecordOf } from '../fields/record.ts';
import { limits } from '../limits/service.ts';

export const COMMIT_EXAMPLE = '8f14e45fceea167a5a36dedd4bea2543f1a0c7d9';
export const SHA256_EXAMPLE = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
export const REPOSITORY_EXAMPLE = '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9';

/** `repository`: a git bundle of refs, perhaps on top of a base. `tree`: the files of one commit. */
export const ARCHIVE_KINDS = ['repository', 'tree'] as const;

/** Characters outside the Basic Multilingual Plane count as one. */
export function isShortLabel(text: string | null): boolean {
  return text === null || Array.from(text).length <= limits.uploadedByCharsMax;
}

/** Without control characters and line separators. */
export function isOneLine(text: string | null): boolean {
  return text === null || !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

const label = z
  .string()
  .refine((text) => isShortLabel(text) && isOneLine(text), 'must be a short text on one line')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode');

const kind = z.enum(ARCHIVE_KINDS);
const shownLabel = z.string().max(limits.uploadedByCharsMax).nullable();
const shownSha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .nullable();

/** Absent in archives of earlier versions. */
const OLD = null;

const blobFields = {
  storage_id: computedField<number>(),
  byte_size: hubField(z.int().min(1).max(limits.uploadBytesMax), {
    archived: () => id.max(limits.uploadBytesMax),
    example: 48213,
  }),
  uploaded_at: hubField(z.iso.datetime().describe('UTC, with milliseconds'), {
    archived: (instant) => instant,
    example: '2026-11-20T20:18:57.123Z',
  }),
  uploaded_by: hubField(shownLabel.describe('X-Uploaded-By of the upload'), {
    archived: () => label.nullable(),
    example: 'ci-runner-7',
  }),
  /** Id that it is bound to since its HMAC was checked (`archivesIdOf`); under any other it fails verification. */
  credential_id: computedField<string>(),
  /** Position in the account's upload order. */
  sequence: computedField<number>(),
  repository_id: hubField(shownSha256.describe('SHA-256 of the sorted root commits of its repository; null: unknown'), {
    archived: () => sha256Hex.nullable().default(OLD),
    example: REPOSITORY_EXAMPLE,
  }),
  repository_label: hubField(shownLabel.describe('Name of its repository, as the uploader sent it'), {
    archived: () => label.nullable().default(OLD),
    example: 'website',
  }),
  base_sha256: hubField(shownSha256.describe('Archive that this increment needs; null: none, it is complete'), {
    archived: () => sha256Hex.nullable().default(OLD),
    example: null,
  }),
  archive_kind: hubField(kind.nullable().describe('repository: a git bundle; tree: the files of one commit'), {
    archived: () => kind.nullable().default(OLD),
    example: 'repository' as const,
  }),
};

export const declaredBlob = declareRecord(blobFields);

export type BlobRecord = RecordOf<typeof blobFields>;

/** What an upload says about the archive in it. */
export type UploadedFacts = Pick<BlobRecord, 'repository_id' | 'repository_label' | 'base_sha256' | 'archive_kind'>;

/** Stands for a missing repository id, in queries and index rows. */
export const UNKNOWN_GROUP = 'unknown';

/** Group of an archive: the id of its repository, or `unknown`. */
export function groupOf({ repository_id }: Pick<BlobRecord, 'repository_id'>): string {
  return repository_id ?? UNKNOWN_GROUP;
}
