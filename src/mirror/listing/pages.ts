/** Answers a page of archives, for every route that lists them. */
import type { z } from 'zod';
import type { Principal } from '../../common/principal.ts';
import { json, type Reply } from '../../http/reply/reply.ts';
import type { PathParameter } from '../../http/route/doc.ts';
import type { BlobReads } from '../blob-reads.ts';
import { COMMIT_EXAMPLE, declaredBlob, SHA256_EXAMPLE } from '../declared.ts';
import type { BlobListQuery } from '../fields.ts';
import * as views from '../views.ts';

export const LISTED_EXAMPLE = { commit_sha: COMMIT_EXAMPLE, sha256: SHA256_EXAMPLE, ...declaredBlob.example };

export const commitParameter: PathParameter<string> = {
  description: 'Commit of the blob',
  schema: { type: 'string', pattern: '^[0-9a-f]{40}$' },
  example: COMMIT_EXAMPLE,
  read: (segment) => segment,
};

/** A page of the list; `path`: that of the route, for the link to the next page. */
export function listArchives(blobs: BlobReads, page: BlobListQuery, { accountId }: Principal, path: string): Reply {
  const found = blobs.list(accountId, page);
  const body: z.output<typeof views.blobPage> = {
    blobs: found.blobs.map((blob) => views.listedView(blob, blobs.isSetAside(accountId, blob))),
  };
  if (found.nextBefore === undefined) return json(200, body);
  const group = page.repository_id === undefined ? '' : `repository_id=${page.repository_id}&`;
  return json(200, body, { Link: `<${path}?${group}limit=${page.limit}&before=${found.nextBefore}>; rel="next"` });
}
