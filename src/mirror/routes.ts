/** Serves the REST routes of the certificate mirror. */
import type { z } from 'zod';
import { sourceOf } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import { Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { readFields, readQuery } from '../fields/read.ts';
import { bytes, empty, json, type Reply, stream } from '../http/reply/reply.ts';
import { answerRange } from '../http/request/conditional.ts';
import type { Authenticator, Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { BlobReads } from './blob-reads.ts';
import type { MirrorBlobs } from './blobs.ts';
import type { MirrorCredentials } from './credentials.ts';
import { credentialRequest, listQuery, uploadHeaders } from './fields.ts';
import { mirrorOperations } from './openapi.ts';
import { type blobPage, listedView, storedView, uploadedView } from './views.ts';

export interface MirrorRoutesOptions {
  readonly blobs: MirrorBlobs;
  readonly credentials: MirrorCredentials;
  /** Accepts account keys and MCP keys. */
  readonly accountAccess: Authenticator;
  /** Accepts mirror tokens. */
  readonly mirrorAccess: Authenticator;
}

const BASE = '/api/cert_mirror';

export function mirrorRoutes(options: MirrorRoutesOptions): Route[] {
  const { blobs, credentials, accountAccess, mirrorAccess } = options;
  return [
    {
      method: 'POST',
      path: `${BASE}/credentials`,
      access: accountAccess,
      body: { kind: 'json', bytesMax: limits.jsonBodyBytesMax },
      doc: mirrorOperations.issueCredential,
      handle: async (request, { accountId }) =>
        json(
          200,
          await credentials.issue(
            accountId,
            readFields(credentialRequest, request.document === undefined ? {} : request.document).rotate,
            clientOf(request),
          ),
        ),
    },
    {
      method: 'DELETE',
      path: `${BASE}/credentials`,
      access: accountAccess,
      body: { kind: 'none' },
      doc: mirrorOperations.destroyCredential,
      async handle(request, { accountId }) {
        await credentials.destroy(accountId, clientOf(request));
        return json(200, {
          status: 'deleted',
          message:
            'The mirror credential was deleted. Blobs stay stored; to download them, upload them again with a new credential.',
        });
      },
    },
    {
      method: 'POST',
      path: BASE,
      access: mirrorAccess,
      body: { kind: 'stream', bytesMax: limits.uploadBytesMax, mediaType: 'application/octet-stream' },
      doc: mirrorOperations.upload,
      async handle(request, principal) {
        const fields = readFields(uploadHeaders, headersOf(request), 'headers');
        return json(
          200,
          uploadedView(await blobs.upload(principal, fields, request), fields['X-Uploaded-By']?.warning),
        );
      },
    },
    ...mirrorReadRoutes(options),
  ];
}

/** Read-only routes. */
function mirrorReadRoutes({
  blobs,
  mirrorAccess,
}: Pick<MirrorRoutesOptions, 'mirrorAccess'> & { readonly blobs: BlobReads }): Route[] {
  return [
    {
      method: 'GET',
      path: BASE,
      access: mirrorAccess,
      body: { kind: 'none' },
      doc: mirrorOperations.list,
      handle: ({ query }, principal) => list(blobs, query, principal),
    },
    {
      method: 'GET',
      path: `${BASE}/latest`,
      access: mirrorAccess,
      body: { kind: 'none' },
      doc: mirrorOperations.latest,
      handle(_request, { accountId }) {
        const blob = blobs.latest(accountId);
        if (blob === undefined) throw new Refusal({ kind: 'not_found', what: 'no blobs yet' });
        return json(200, { ...storedView(blob), download_url: `${BASE}/${blob.commitSha}/download` });
      },
    },
    {
      method: 'GET',
      path: `${BASE}/:sha/download`,
      access: mirrorAccess,
      body: { kind: 'none' },
      doc: mirrorOperations.download,
      handle: (request, principal) => mirrorDownload(blobs, request, principal),
    },
  ];
}

function clientOf(request: Pick<RouteRequest, 'address' | 'header'>): Source {
  return sourceOf('client', request.address, request.header('user-agent'));
}

function headersOf(request: RouteRequest): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.keys(uploadHeaders.shape).map((name) => [name, request.header(name.toLowerCase())]));
}

function list(blobs: BlobReads, query: URLSearchParams, { accountId }: Principal): Reply {
  const page = readQuery(listQuery, query);
  const found = blobs.list(accountId, page);
  const body: z.output<typeof blobPage> = {
    blobs: found.blobs.map((blob) => listedView(blob, blobs.isSetAside(accountId, blob))),
  };
  if (found.nextBefore === undefined) return json(200, body);
  return json(200, body, { Link: `<${BASE}?limit=${page.limit}&before=${found.nextBefore}>; rel="next"` });
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
  const headers = { ...common, 'Content-Type': 'application/octet-stream' };
  const isSmall = bytesTotal <= limits.smallBlobBytesMax;
  switch (answer.kind) {
    case 'unchanged':
      return empty(304, common);
    case 'unsatisfiable':
      throw new Refusal({ kind: 'range_unsatisfiable', bytesTotal });
    case 'part': {
      const { start, end } = answer;
      const partHeaders = { ...headers, 'Content-Range': `bytes ${start}-${end - 1}/${bytesTotal}` };
      if (isSmall) return bytes(206, blobs.bytes.small(blob).subarray(start, end), partHeaders);
      return blobs.bytes.check(blob).then(() => stream(206, blobs.bytes.part(blob, start, end), partHeaders));
    }
    case 'whole':
      return isSmall ? bytes(200, blobs.bytes.small(blob), headers) : stream(200, blobs.bytes.whole(blob), headers);
  }
}
