/** Declares the REST operations of restore drills. */
import { json } from '../http/reply/reply.ts';
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { COMMIT_EXAMPLE, declaredBlob, REPOSITORY_EXAMPLE, SHA256_EXAMPLE } from './declared.ts';
import type { Drills } from './drills.ts';
import { drillListQuery, newDrill } from './fields.ts';
import { drillPage, shownDrill } from './views.ts';

interface DrillRoutesOptions {
  readonly drills: Drills;
  readonly drillAccess: Authenticator;
}

const PATH = '/api/cert_mirror/drills';
const GIVEN = {
  repository_id: REPOSITORY_EXAMPLE,
  commit_sha: COMMIT_EXAMPLE,
  sha256: SHA256_EXAMPLE,
  outcome: 'proven' as const,
};
const EXAMPLE = { id: 7, ...GIVEN, detail: null, at: declaredBlob.example.uploaded_at };

export function drillRoutes({ drills, drillAccess }: DrillRoutesOptions): Route[] {
  const all = { path: PATH, tag: 'mirror', access: drillAccess } as const;
  return [
    operation({
      ...all,
      method: 'POST',
      operationId: 'mirrorRecordDrill',
      summary: 'Records that a restore of an archive was tried',
      body: newDrill,
      example: GIVEN,
      answer: {
        status: 201,
        description: 'Recorded',
        schema: shownDrill.meta({ title: 'RestoreDrill' }),
        example: EXAMPLE,
      },
      handle: ({ body }, { accountId }) => drills.record(accountId, body),
    }),
    operation({
      ...all,
      method: 'GET',
      operationId: 'mirrorListDrills',
      summary: 'Lists restore drills, newest first',
      query: drillListQuery,
      answer: {
        description: 'The drills; a Link header when there are more',
        schema: drillPage,
        example: { drills: [EXAMPLE] },
        headers: ['Link'],
      },
      reply({ query }, { accountId }) {
        const found = drills.list(accountId, query);
        if (found.nextBefore === undefined) return json(200, { drills: found.drills });
        const group = query.repository_id === undefined ? '' : `repository_id=${query.repository_id}&`;
        return json(
          200,
          { drills: found.drills },
          { Link: `<${PATH}?${group}limit=${query.limit}&before=${found.nextBefore}>; rel="next"` },
        );
      },
    }),
  ];
}
