/** Declares the input of the mirror's clients besides bytes: upload headers, list query, and credential request. */
import { z } from 'zod';
import { invalidField } from '../common/fault.ts';
import { isWellFormed, printableName, visible, WELL_FORMED } from '../fields/kinds.ts';
import { limits } from '../limits/service.ts';
import { decodeExtValue } from '../text/ext-value.ts';
import {
  ARCHIVE_KINDS,
  COMMIT_EXAMPLE,
  isOneLine,
  isShortLabel,
  REPOSITORY_EXAMPLE,
  SHA256_EXAMPLE,
  UNKNOWN_GROUP,
  type UploadedFacts,
} from './declared.ts';

const commitSha = z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hex characters');
const sha256 = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be the 64 hex characters of the body’s SHA-256');
const repositoryId = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex characters');
/** A repository, or the uploads without one. */
const group = z
  .string()
  .regex(/^(?:[0-9a-f]{64}|unknown)$/, `must be 64 lower-case hex characters, or ${UNKNOWN_GROUP}`)
  .describe(`A repository, or ${UNKNOWN_GROUP}: uploads that named none`);

/** A text of an upload in any language. */
interface Label {
  /** Null without a label. */
  readonly text: string | null;
  readonly warning?: string;
}

/**
 * Reads a header as UTF-8, or as `UTF-8''…` (RFC 8187). The HTTP library drops bytes above 0x7F at either end, and
 * replaces bytes that are not UTF-8: where that shows, there is a warning instead of a label.
 */
function readLabel(header: string, given: string): Label {
  if (given !== '' && !given.includes('\ufffd')) return { text: decodeExtValue(given) ?? given };
  const warning = `${header} did not arrive intact, so no label was stored; send it in RFC 8187 form: UTF-8'' and the percent-encoded text`;
  return { text: null, warning };
}

/** A header with a label. */
function labelHeader(header: string, says: string, example: string) {
  return z
    .string()
    .meta({
      description:
        `${says}: at most ${limits.uploadedByCharsMax} characters of any language. Send a label that begins or ends ` +
        "with a letter outside ASCII in RFC 8187 form: UTF-8'' and the percent-encoded text",
      examples: [example],
    })
    .transform((given) => readLabel(header, given))
    .refine(({ text }) => isShortLabel(text), `must have at most ${limits.uploadedByCharsMax} characters`)
    .refine(({ text }) => isOneLine(text), 'must not contain control characters or line breaks')
    .optional();
}

/** The headers of an upload by name (interface specification, 4.2). */
export const uploadHeaders = z.object({
  'X-Commit-Sha': commitSha.meta({
    description: 'Commit that the tarball belongs to, lower-case hex',
    examples: [COMMIT_EXAMPLE],
  }),
  'X-Tarball-Sha256': sha256
    .meta({ description: 'SHA-256 of the body, hex', examples: [SHA256_EXAMPLE] })
    .transform((text) => text.toLowerCase()),
  'X-Mirror-Signature': z
    .string()
    .regex(/^sha256=[0-9a-fA-F]{64}$/, 'must be sha256= and the 64 hex characters of the body’s HMAC-SHA256')
    .meta({
      description: '`sha256=` and the HMAC-SHA256 of the body, keyed with hmac_secret, hex',
      examples: [`sha256=${SHA256_EXAMPLE}`],
    })
    .transform((text) => Buffer.from(text.slice('sha256='.length), 'hex')),
  'X-Uploaded-By': labelHeader('X-Uploaded-By', 'Who uploads, for the list', 'ci-runner-7'),
  'X-Repository-Id': repositoryId
    .meta({
      description:
        'Repository of the archive: the SHA-256 over its sorted root commits, lower-case hex; absent: unknown',
      examples: [REPOSITORY_EXAMPLE],
    })
    .optional(),
  'X-Repository-Label': labelHeader('X-Repository-Label', 'Name of the repository', 'website'),
  'X-Archive-Base': sha256
    .meta({
      description:
        'SHA-256 of the uploaded archive of the same repository on which this increment builds; absent: it is complete',
      examples: [SHA256_EXAMPLE],
    })
    .transform((text) => text.toLowerCase())
    .optional(),
  'X-Archive-Kind': z
    .enum(ARCHIVE_KINDS)
    .meta({
      description: 'repository: a git bundle of refs; tree: the files of one commit; absent: unknown',
      examples: ['repository'],
    })
    .optional(),
});

export type UploadHeaders = z.output<typeof uploadHeaders>;

/** Returns what an upload says about its archive. Throws Refusal `invalid_fields` when its parts contradict each other. */
export function archiveFactsOf(fields: UploadHeaders): UploadedFacts {
  const { 'X-Repository-Id': repository, 'X-Archive-Base': base, 'X-Archive-Kind': kind } = fields;
  if (base !== undefined && repository === undefined)
    throw invalidField('X-Archive-Base', 'X-Archive-Base needs X-Repository-Id, the repository of both archives');
  if (base !== undefined && kind === 'tree')
    throw invalidField('X-Archive-Base', 'an archive of kind tree is complete; leave X-Archive-Base out');
  if (base !== undefined && base === fields['X-Tarball-Sha256'])
    throw invalidField('X-Archive-Base', 'X-Archive-Base names the uploaded archive; name the archive before it');
  return {
    repository_id: repository ?? null,
    repository_label: fields['X-Repository-Label']?.text ?? null,
    base_sha256: base ?? null,
    archive_kind: kind ?? null,
  };
}

/** Returns a sentence for each label that did not arrive intact. */
export function warningsOf(fields: UploadHeaders): string[] {
  return [fields['X-Uploaded-By']?.warning, fields['X-Repository-Label']?.warning].filter((text) => text !== undefined);
}

/** Describes the query of a download. A wrong value names no blob, so it answers 404 and not 422. */
export const downloadQuery = z.object({
  sha256: sha256.optional().describe('SHA-256 of an older blob of the commit; absent: the newest'),
});

/** Describes the headers of a download (RFC 9110), which are ignored where they are wrong. */
export const rangeHeaders = z.object({
  'If-None-Match': z.string().optional().describe("ETag of the client's copy; if it still matches, the answer is 304"),
  Range: z
    .string()
    .optional()
    .meta({ description: 'One range of bytes; several ranges get the whole blob', examples: ['bytes=0-1023'] }),
  'If-Range': z.string().optional().describe('The range applies only if the ETag is this one'),
});

/** Unknown members are reserved for later versions of the interface. */
export const credentialRequest = z.looseObject({
  rotate: z.boolean().default(false).describe('Make a new token and secret'),
});

/** Unknown parameters are reserved for later versions of the interface. */
export const listQuery = z.object({
  limit: z.int().min(1).max(limits.blobPageMax).default(limits.blobPageDefault).describe('Most blobs in one answer'),
  before: z
    .int({ error: 'must be the value from the Link header of the previous page' })
    .min(1)
    .optional()
    .describe('Start of the next page, from the Link header of the previous page'),
  repository_id: group.optional(),
});

/** The archives of one repository, of which the caller must know the id. */
export const continuationQuery = listQuery.extend({
  repository_id: repositoryId.describe('The repository; a credential that only uploads lists no other way'),
});

/** What a restore drill found. */
export const newDrill = z.strictObject({
  repository_id: group,
  commit_sha: commitSha,
  sha256: sha256.transform((text) => text.toLowerCase()),
  outcome: z.enum(['proven', 'failed']).describe('proven: restored and checked'),
  detail: z.string().max(limits.drillDetailCharsMax).refine(isWellFormed, WELL_FORMED).optional(),
});

export type NewDrill = z.output<typeof newDrill>;

export const drillListQuery = z.object({
  limit: z.int().min(1).max(limits.drillsMax).default(100).describe('Most drills in one answer'),
  before: z.int().min(1).optional().describe('Start of the next page, from the Link header of the previous page'),
  repository_id: group.optional(),
});

export type DrillListQuery = z.output<typeof drillListQuery>;

/** Archives to remove. */
export const removalRequest = z.strictObject({
  archives: z
    .array(z.strictObject({ commit_sha: commitSha, sha256: sha256.transform((text) => text.toLowerCase()) }))
    .min(1)
    .max(limits.removedArchivesMax),
});

export type RemovedArchive = z.output<typeof removalRequest>['archives'][number];

/** What a credential of a CI job may do. */
export const jobAccess = z.enum(['upload', 'download']);

export type JobAccess = z.output<typeof jobAccess>;

/** A credential of a CI job. */
export const newUploader = z.strictObject({
  name: visible(printableName(limits.nameCharsMax).describe('For the list')),
  access: jobAccess.default('upload').describe('What it may do, and nothing else; download also lists'),
});

/** Unknown members are reserved for later versions of the interface. */
export const rotationRequest = z.looseObject({});

/** Unknown parameters are reserved for later versions of the interface. */
export const latestQuery = z.object({ repository_id: group.optional() });

export const repositoryListQuery = z.object({
  limit: z.int().min(1).max(limits.blobPageMax).default(limits.blobPageDefault).describe('Most groups in one answer'),
  after: group.optional().describe('Start of the next page, from the Link header of the previous page'),
});

export type RepositoryListQuery = z.output<typeof repositoryListQuery>;

export type BlobListQuery = z.output<typeof listQuery>;

export function isCommitSha(text: string): boolean {
  return commitSha.safeParse(text).success;
}

export function isSha256(text: string): boolean {
  return sha256.safeParse(text).success;
}
