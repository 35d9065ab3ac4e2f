/** Declares the input of the mirror's clients besides bytes: upload headers, list query, and credential request. */
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import { decodeExtValue } from '../text/ext-value.ts';

export const COMMIT_EXAMPLE = '8f14e45fceea167a5a36dedd4bea2543f1a0c7d9';
export const SHA256_EXAMPLE = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const commitSha = z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hex characters');
const sha256 = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be the 64 hex characters of the body’s SHA-256');

/** The free label of an upload, from the header X-Uploaded-By. */
interface Label {
  /** Null without a label. */
  readonly text: string | null;
  readonly warning?: string;
}

const LABEL_LOST =
  "X-Uploaded-By did not arrive intact, so no label was stored; send it in RFC 8187 form: UTF-8'' and the percent-encoded text";

/**
 * Reads a header as UTF-8, or as `UTF-8''…` (RFC 8187). The HTTP library drops bytes above 0x7F at either end, and
 * replaces bytes that are not UTF-8: where that shows, there is a warning instead of a label.
 */
function readLabel(given: string): Label {
  if (given === '' || given.includes('\ufffd')) return { text: null, warning: LABEL_LOST };
  return { text: decodeExtValue(given) ?? given };
}

/** At most `limits.uploadedByCharsMax` characters. */
export function isShortLabel({ text }: Label): boolean {
  return text === null || Array.from(text).length <= limits.uploadedByCharsMax;
}

/** Without control characters and line separators. */
export function isOneLine({ text }: Label): boolean {
  return text === null || !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
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
  'X-Uploaded-By': z
    .string()
    .meta({
      description:
        `Who uploads, for the list: at most ${limits.uploadedByCharsMax} characters of any language. Send a label that begins or ends ` +
        "with a letter outside ASCII in RFC 8187 form: UTF-8'' and the percent-encoded text",
      examples: ['ci-runner-7'],
    })
    .transform(readLabel)
    .refine(isShortLabel, `must have at most ${limits.uploadedByCharsMax} characters`)
    .refine(isOneLine, 'must not contain control characters or line breaks')
    .optional(),
});

export type UploadHeaders = z.output<typeof uploadHeaders>;

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
});

export type BlobListQuery = z.output<typeof listQuery>;

export function isCommitSha(text: string): boolean {
  return commitSha.safeParse(text).success;
}

export function isSha256(text: string): boolean {
  return sha256.safeParse(text).success;
}
