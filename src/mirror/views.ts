/** Defines the public form of the mirror's answers and their schemas. */
import { z } from 'zod';
import type { ArchiveGroup, Blob } from './blob-reads.ts';
import { declaredBlob } from './declared.ts';
import { jobAccess } from './fields.ts';
import type { DrillRecord } from './records.ts';

const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

const { byte_size, uploaded_at, uploaded_by, ...archiveFacts } = declaredBlob.shown.shape;

const storedBlob = z.object({
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
  last_proven: z
    .object({ commit_sha: storedBlob.shape.commit_sha, sha256: hex64, at: z.iso.datetime() })
    .nullable()
    .describe('Newest archive of which a restore was proven'),
  last_drill: z
    .object({ outcome: z.enum(['proven', 'failed']), detail: z.string().nullable(), at: z.iso.datetime() })
    .nullable()
    .describe('Newest attempt to restore'),
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

export const rotatedCredential = issuedCredential.extend({
  archives_kept: z.int().nonnegative().describe('Archives that stay readable, under the new token'),
  archives_unreadable: z.int().nonnegative().describe('Archives that were unreadable before, and still are'),
});

export type RotatedCredential = z.output<typeof rotatedCredential>;

export const credentialState = z.object({
  exists: z.boolean(),
  created_at: z.iso.datetime().nullable(),
  archives_readable: z.int().nonnegative(),
  archives_unreadable: z.int().nonnegative().describe('Bound to a credential that no longer exists'),
});

const uploader = z.object({
  id: z.string(),
  name: z.string(),
  access: jobAccess,
  created_at: z.iso.datetime(),
});

export const newUploaderView = uploader.extend({
  token: hex64.describe('Uploads or downloads, as `Authorization: McpKey <token>`; everything else is 403'),
  hmac_secret: hex64.nullable().describe('HMAC key for upload signatures. Returned only here; null with download'),
});

export const uploaderList = z.object({ uploaders: z.array(uploader) });

export const shownDrill = z.object({
  id: z.int().positive(),
  repository_id: archiveFacts.repository_id,
  commit_sha: storedBlob.shape.commit_sha,
  sha256: hex64,
  outcome: z.enum(['proven', 'failed']),
  detail: z.string().nullable(),
  at: z.iso.datetime(),
});

export const drillPage = z.object({ drills: z.array(shownDrill) });

export const removedArchives = z.object({
  removed: z.int().nonnegative().describe('Archives that are gone; those that did not exist are not counted'),
  bytes: z.int().nonnegative(),
});

export const destroyedCredential = z.object({ status: z.literal('deleted'), message: z.string() });

function storedView({ commitSha, sha256, record }: Blob): z.output<typeof storedBlob> {
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
  { repositoryId, record, newest, proof }: ArchiveGroup,
  isSetAside: boolean,
): z.output<typeof repositoryGroup> {
  return {
    repository_id: repositoryId,
    repository_label: record.label,
    archives: record.archives,
    bytes: record.bytes,
    newest: listedView(newest, isSetAside),
    last_proven: provenView(proof?.last_proven ?? null),
    last_drill: drillView(proof?.last_drill ?? null),
  };
}

function provenView(drill: DrillRecord | null) {
  return drill && { commit_sha: drill.commit_sha, sha256: drill.sha256, at: drill.at };
}

function drillView(drill: DrillRecord | null) {
  return drill && { outcome: drill.outcome, detail: drill.detail, at: drill.at };
}
