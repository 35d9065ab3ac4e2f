/** Defines the public form of the mirror's answers and their schemas. */
import { z } from 'zod';
import type { ArchiveGroup, Blob } from './blob-reads.ts';
import { declaredBlob } from './declared.ts';

const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

const { byte_size, uploaded_at, uploaded_by, ...archiveFacts } = declaredBlob.shown.shape;

export const storedBlob = z.object({
  commit_sha: z.string().regex(/^[0-9a-f]{40}$/),
  sha256: hex64.describe('SHA-256 of the stored bytes, lower case'),
  byte_size,
  uploaded_at,
});

export const latestBlob = storedBlob.extend({
  download_url: z.string().meta({ format: 'uri-reference', description: 'Path of the download on this service' }),
  ...archiveFacts,
});

export const uploadedBlob = storedBlob.extend({
  warnings: z.array(z.string()).optional().describe('What was stored differently from the request'),
});

const listedBlob = storedBlob.extend({
  uploaded_by,
  ...archiveFacts,
  quarantined: z.literal(true).optional().describe('Its stored bytes are damaged; upload the same bytes again'),
});

export const blobPage = z.object({ blobs: z.array(listedBlob.meta({ title: 'ListedBlob' })) });

const repositoryGroup = z.object({
  repository_id: archiveFacts.repository_id,
  repository_label: archiveFacts.repository_label.describe('Of the newest upload that had one'),
  archives: z.int().positive(),
  bytes: z.int().positive().describe('Of all its archives'),
  newest: listedBlob,
});

export const repositoryPage = z.object({ repositories: z.array(repositoryGroup.meta({ title: 'MirrorRepository' })) });

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

export function uploadedView(blob: Blob, warnings: readonly string[]): z.output<typeof uploadedBlob> {
  return { ...storedView(blob), ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) };
}

export function listedView(blob: Blob, isSetAside: boolean): z.output<typeof listedBlob> {
  const { commitSha: commit_sha, sha256, record } = blob;
  return { commit_sha, sha256, ...declaredBlob.show(record), ...(isSetAside ? { quarantined: true } : {}) };
}

export function latestView(blob: Blob, download_url: string): z.output<typeof latestBlob> {
  const { byte_size: _, uploaded_at: __, uploaded_by: ___, ...facts } = declaredBlob.show(blob.record);
  return { ...storedView(blob), download_url, ...facts };
}

export function groupView(
  { repositoryId, record, newest }: ArchiveGroup,
  isSetAside: boolean,
): z.output<typeof repositoryGroup> {
  return {
    repository_id: repositoryId,
    repository_label: record.label,
    archives: record.archives,
    bytes: record.bytes,
    newest: listedView(newest, isSetAside),
  };
}
