/**
 * Declares what an upload needs to know of earlier ones, to continue them: the archives of one repository, and their
 * headers. Open to credentials that only upload; the encrypted content is not.
 */
import { Refusal } from '../../common/fault.ts';
import { bytes } from '../../http/reply/reply.ts';
import { operation } from '../../http/route/operation.ts';
import type { Authenticator, Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Blob, BlobReads } from '../blob-reads.ts';
import { continuationQuery, downloadQuery } from '../fields.ts';
import * as views from '../views.ts';
import { AGE_HEADER_BYTES_MAX, ageHeaderLength } from './age-header.ts';
import { commitParameter, LISTED_EXAMPLE, listArchives } from './pages.ts';

interface ContinuationRoutesOptions {
  readonly blobs: BlobReads;
  readonly uploadAccess: Authenticator;
}

const BASE = '/api/cert_mirror';

export function continuationRoutes({ blobs, uploadAccess }: ContinuationRoutesOptions): Route[] {
  const all = { method: 'GET', tag: 'mirror', access: uploadAccess } as const;
  return [
    operation({
      ...all,
      path: `${BASE}/uploads`,
      operationId: 'mirrorListUploads',
      summary: 'Lists the archives of one repository, newest first, for an upload that continues them',
      query: continuationQuery,
      answer: {
        description: 'The blobs; a Link header when there are more',
        schema: views.blobPage,
        example: { blobs: [LISTED_EXAMPLE] },
        headers: ['Link'],
      },
      reply: ({ query }, principal) => listArchives(blobs, query, principal, `${BASE}/uploads`),
    }),
    operation({
      ...all,
      path: `${BASE}/:sha/header`,
      operationId: 'mirrorArchiveHeader',
      summary: 'The header of an archive in the age format, without its encrypted content',
      params: { sha: commitParameter },
      query: downloadQuery,
      answer: {
        description: 'The header',
        content: [{ mediaType: 'application/octet-stream' }],
        headers: ['X-Tarball-Sha256'],
      },
      refusals: [404, 422],
      async reply({ request }, principal) {
        const blob = blobs.find(principal, request.params['sha'] ?? '', request.query.get('sha256'));
        const beginning = await beginningOf(blobs, blob);
        const length = ageHeaderLength(beginning);
        if (length === undefined) throw new Refusal({ kind: 'not_found', what: 'this archive has no age header' });
        return bytes(200, Uint8Array.from(beginning.subarray(0, length)), {
          'Content-Type': 'application/octet-stream',
          'X-Tarball-Sha256': blob.sha256,
        });
      },
    }),
  ];
}

async function beginningOf({ bytes: stored }: BlobReads, blob: Blob): Promise<Uint8Array> {
  const size = blob.record.byte_size;
  if (size <= limits.smallBlobBytesMax) return stored.small(blob);
  await stored.check(blob);
  return stored.part(blob, 0, Math.min(size, AGE_HEADER_BYTES_MAX)).read(0);
}
