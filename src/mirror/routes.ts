/** Declares the REST operations of backups (the certificate mirror of the specification). */
import type { z } from 'zod';
import { Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { readFields } from '../fields/read.ts';
import { bytes, empty, json, type Reply, stream, withHeaders } from '../http/reply/reply.ts';
import { answerRange } from '../http/request/conditional.ts';
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { BlobReads } from './blob-reads.ts';
import type { MirrorBlobs } from './blobs.ts';
import { credentialRoutes, rotationRoutes, uploaderRoutes } from './credential-routes.ts';
import type { MirrorCredentials } from './credentials.ts';
import { COMMIT_EXAMPLE, declaredBlob, SHA256_EXAMPLE } from './declared.ts';
import { drillRoutes } from './drill-routes.ts';
import type { Drills } from './drills.ts';
import {
  downloadQuery,
  latestQuery,
  listQuery,
  type RepositoryListQuery,
  rangeHeaders,
  repositoryListQuery,
  uploadHeaders,
  warningsOf,
} from './fields.ts';
import { continuationRoutes } from './listing/continuation-routes.ts';
import { commitParameter, LISTED_EXAMPLE, listArchives } from './listing/pages.ts';
import type { Removals } from './removal/removals.ts';
import { removalRoutes } from './removal/routes.ts';
import type { Uploaders } from './uploaders.ts';
import * as views from './views.ts';

export interface MirrorRoutesOptions {
  readonly blobs: MirrorBlobs;
  readonly credentials: MirrorCredentials;
  /** Accepts account keys and MCP keys. */
  readonly accountAccess: Authenticator;
  readonly uploaders: Uploaders;
  readonly drills: Drills;
  readonly removals: Removals;
  /** Accepts mirror tokens, and those that only upload. */
  readonly uploadAccess: Authenticator;
  /** Accepts mirror tokens, and those that only download. */
  readonly downloadAccess: Authenticator;
  /** Accepts mirror tokens. */
  readonly mirrorAccess: Authenticator;
  /** Accepts account keys, MCP keys and mirror tokens. */
  readonly drillAccess: Authenticator;
}

const BASE = '/api/cert_mirror';
const BYTES = 'application/octet-stream';
const TARBALL_HEADERS = ['ETag', 'Accept-Ranges', 'X-Tarball-Sha256'] as const;

const BLOB = {
  commit_sha: COMMIT_EXAMPLE,
  sha256: SHA256_EXAMPLE,
  byte_size: declaredBlob.example.byte_size,
  uploaded_at: declaredBlob.example.uploaded_at,
};
const { repository_id, repository_label, base_sha256, archive_kind } = declaredBlob.example;
const FACTS = { repository_id, repository_label, base_sha256, archive_kind };

export function mirrorRoutes(options: MirrorRoutesOptions): Route[] {
  return [
    ...credentialRoutes(options),
    ...rotationRoutes(options),
    ...uploaderRoutes(options),
    uploadRoute(options),
    ...continuationRoutes(options),
    ...mirrorReadRoutes(options),
    ...drillRoutes(options),
    ...removalRoutes(options),
  ];
}

function uploadRoute({ blobs, uploadAccess }: MirrorRoutesOptions): Route {
  return operation({
    method: 'POST',
    path: BASE,
    operationId: 'mirrorUpload',
    tag: 'mirror',
    summary: 'Uploads an encrypted tarball',
    description:
      `The raw bytes, at most ${limits.uploadBytesMax}, with Content-Length; multipart is refused, because the ` +
      'signature covers the exact bytes. 200 means that they are durable on disk. Sending the same again is safe.',
    access: uploadAccess,
    headers: uploadHeaders,
    accepts: { kind: 'stream', bytesMax: limits.uploadBytesMax, mediaType: BYTES },
    request: { required: true, mediaType: BYTES },
    answer: {
      description: 'Stored',
      schema: views.uploadedBlob.meta({ title: 'UploadedBlob' }),
      example: BLOB,
    },
    refusals: [422, 507],
    async handle({ request }, principal) {
      const fields = readFields(uploadHeaders, headersOf(request), 'headers');
      return views.uploadedView(await blobs.upload(principal, fields, request), warningsOf(fields));
    },
  });
}

/** Read-only routes. */
function mirrorReadRoutes({
  blobs,
  downloadAccess,
}: Pick<MirrorRoutesOptions, 'downloadAccess'> & { readonly blobs: BlobReads }): Route[] {
  const all = { method: 'GET', tag: 'mirror', access: downloadAccess } as const;
  return [
    operation({
      ...all,
      path: BASE,
      operationId: 'mirrorList',
      summary: 'Lists the blobs, newest first',
      query: listQuery,
      answer: {
        description: 'The blobs; a Link header when there are more',
        schema: views.blobPage,
        example: { blobs: [LISTED_EXAMPLE] },
        headers: ['Link'],
      },
      reply: ({ query }, principal) => listArchives(blobs, query, principal, BASE),
    }),
    operation({
      ...all,
      path: `${BASE}/latest`,
      operationId: 'mirrorLatest',
      summary: 'The blob that was uploaded last, of all or of one repository',
      query: latestQuery,
      answer: {
        description: 'The newest blob',
        schema: views.latestBlob.meta({ title: 'LatestBlob' }),
        example: { ...BLOB, download_url: `/api/cert_mirror/${COMMIT_EXAMPLE}/download`, ...FACTS },
      },
      refusals: [404],
      handle({ query }, { accountId }) {
        const blob = blobs.latest(accountId, query.repository_id);
        if (blob === undefined) throw new Refusal({ kind: 'not_found', what: 'no blobs yet' });
        return views.latestView(blob, `${BASE}/${blob.commitSha}/download`);
      },
    }),
    operation({
      ...all,
      path: `${BASE}/repositories`,
      operationId: 'mirrorRepositories',
      summary: 'Lists the repositories that have archives',
      query: repositoryListQuery,
      answer: {
        description: 'The repositories by id, uploads without one last; a Link header when there are more',
        schema: views.repositoryPage,
        example: {
          repositories: [
            {
              repository_id,
              repository_label,
              archives: 12,
              bytes: 5_242_880,
              newest: LISTED_EXAMPLE,
              last_proven: { commit_sha: COMMIT_EXAMPLE, sha256: SHA256_EXAMPLE, at: declaredBlob.example.uploaded_at },
              last_drill: { outcome: 'proven', detail: null, at: declaredBlob.example.uploaded_at },
            },
          ],
        },
        headers: ['Link'],
      },
      reply: ({ query }, principal) => listGroups(blobs, query, principal),
    }),
    downloadRoute(blobs, downloadAccess),
  ];
}

function downloadRoute(blobs: BlobReads, access: Authenticator): Route {
  const tarball = { content: [{ mediaType: BYTES }], headers: TARBALL_HEADERS };
  return operation({
    method: 'GET',
    path: `${BASE}/:sha/download`,
    operationId: 'mirrorDownload',
    tag: 'mirror',
    summary: 'Downloads a blob, whole or in part',
    description: '422 when it was uploaded under a credential that is no longer in force.',
    access,
    params: { sha: commitParameter },
    query: downloadQuery,
    headers: rangeHeaders,
    answer: { description: 'The exact bytes', ...tarball },
    answers: {
      206: { description: 'The requested range', ...tarball, headers: [...TARBALL_HEADERS, 'Content-Range'] },
      304: { description: "Not modified: the client's copy is current", headers: TARBALL_HEADERS },
    },
    refusals: [416],
    reply: ({ request }, principal) => mirrorDownload(blobs, request, principal),
  });
}

/** The headers of an upload: as they are declared, and as they arrive. */
const HEADER_NAMES = Object.keys(uploadHeaders.shape).map((name) => [name, name.toLowerCase()] as const);

function headersOf(request: RouteRequest): Readonly<Record<string, string | undefined>> {
  const headers: Record<string, string | undefined> = {};
  for (const [name, arriving] of HEADER_NAMES) headers[name] = request.header(arriving);
  return headers;
}

function listGroups(blobs: BlobReads, page: RepositoryListQuery, { accountId }: Principal): Reply {
  const { groups, next } = blobs.groups(accountId, page);
  const body: z.output<typeof views.repositoryPage> = {
    repositories: groups.map((group) => views.groupView(group, blobs.isSetAside(accountId, group.newest))),
  };
  if (next === undefined) return json(200, body);
  return json(200, body, { Link: `<${BASE}/repositories?limit=${page.limit}&after=${next}>; rel="next"` });
}

/** Sends the requested blob, whole or in part. Throws Refusal as `MirrorBlobs.find` does, and for damaged bytes. */
export function mirrorDownload(blobs: BlobReads, request: RouteRequest, principal: Principal): Reply | Promise<Reply> {
  const blob = blobs.find(principal, request.params['sha'] ?? '', request.query.get('sha256'));
  const bytesTotal = blob.record.byte_size;
  const etag = `"${blob.sha256}"`;
  const answer = answerRange({
    ifNoneMatch: request.header('if-none-match'),
    ifRange: request.header('if-range'),
    // Ranges are defined for GET only (RFC 9110, 14.2).
    range: request.isHead ? undefined : request.header('range'),
    etag,
    bytesTotal,
  });
  const common = {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'X-Tarball-Sha256': blob.sha256,
    // A client may cache the bytes, but must revalidate each time: its credential may have been revoked.
    'Cache-Control': 'private, no-cache',
  };
  const headers = withHeaders(common, { 'Content-Type': BYTES });
  const isSmall = bytesTotal <= limits.smallBlobBytesMax;
  switch (answer.kind) {
    case 'unchanged':
      return empty(304, common);
    case 'unsatisfiable':
      throw new Refusal({ kind: 'range_unsatisfiable', bytesTotal });
    case 'part': {
      const { start, end } = answer;
      const partHeaders = withHeaders(headers, { 'Content-Range': `bytes ${start}-${end - 1}/${bytesTotal}` });
      if (isSmall) return bytes(206, blobs.bytes.small(blob).subarray(start, end), partHeaders);
      return blobs.bytes.check(blob).then(() => stream(206, blobs.bytes.part(blob, start, end), partHeaders));
    }
    case 'whole':
      return isSmall ? bytes(200, blobs.bytes.small(blob), headers) : stream(200, blobs.bytes.whole(blob), headers);
  }
}
