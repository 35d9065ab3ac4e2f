/** Defines the public form of the mirror's answers and their schemas. */
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import type { Blob } from './blob-reads.ts';

const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

export const storedBlob = z.object({
  commit_sha: z.string().regex(/^[0-9a-f]{40}$/),
  sha256: hex64.describe('SHA-256 of the stored bytes, lower case'),
  byte_size: z.int().min(1).max(limits.uploadBytesMax),
  uploaded_at: z.iso.datetime().describe('UTC, with milliseconds'),
});

export const latestBlob = storedBlob.extend({
  download_url: z.string().meta({ format: 'uri-reference', description: 'Path of the download on this service' }),
});

export const uploadedBlob = storedBlob.extend({
  warnings: z.array(z.string()).optional().describe('What was stored differently from the request'),
});

const listedBlob = storedBlob.extend({
  uploaded_by: z.string().max(limits.uploadedByCharsMax).nullable().describe('X-Uploaded-By of the upload'),
  quarantined: z.literal(true).optional().describe('Its stored bytes are damaged; upload the same bytes again'),
});

export const blobPage = z.object({ blobs: z.array(listedBlob.meta({ title: 'ListedBlob' })) });

export const issuedCredential = z.object({
  status: z.enum(['created', 'existing']),
  token: hex64.describe('Opens the mirror, as `Authorization: McpKey <token>`'),
  hmac_secret: hex64
    .nullable()
    .describe('HMAC key for upload signatures: these 64 characters. Returned only on creation, else null'),
  message: z.string(),
});

export type IssuedCredential = z.output<typeof issuedCredential>;

export const destroyedCredential = z.object({ status: z.literal('deleted'), message: z.string() });

export function storedView({ commitSha, sha256, record }: Blob): z.output<typeof storedBlob> {
  return { commit_sha: commitSha, sha256, byte_size: record.byte_size, uploaded_at: record.uploaded_at };
}

export function uploadedView(blob: Blob, warning: string | undefined): z.output<typeof uploadedBlob> {
  return { ...storedView(blob), ...(warning === undefined ? {} : { warnings: [warning] }) };
}

export function listedView(blob: Blob, isSetAside: boolean): z.output<typeof listedBlob> {
  return { ...storedView(blob), uploaded_by: blob.record.uploaded_by, ...(isSetAside ? { quarantined: true } : {}) };
}
