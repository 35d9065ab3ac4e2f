/** Defines the REST routes of papers. */

import type { CallerName } from '../../common/principal.ts';
import { readId } from '../../fields/kinds.ts';
import { readQuery } from '../../fields/read.ts';
import { empty, json } from '../../http/reply/reply.ts';
import type { Authenticator, Route, RouteRequest } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { pageQuery } from './fields.ts';
import { paperOperations } from './openapi.ts';
import type { Papers } from './service.ts';
import { paperView } from './views.ts';

export interface PaperRoutesOptions {
  readonly papers: Papers;
  /** Accepts access tokens. */
  readonly access: Authenticator;
  readonly nameOf: CallerName;
}

const PAPERS = '/api/papers';
const NONE = { kind: 'none' } as const;
const JSON_BODY = { kind: 'json', bytesMax: limits.paperBodyBytesMax } as const;

const idOf = ({ params }: RouteRequest): number | undefined => readId(params['id']);

export function paperRoutes({ papers, access, nameOf }: PaperRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: PAPERS,
      access,
      body: NONE,
      doc: paperOperations.list,
      handle: ({ query }, { accountId }) => json(200, listPage(papers, accountId, query)),
    },
    {
      method: 'POST',
      path: PAPERS,
      access,
      body: JSON_BODY,
      doc: paperOperations.create,
      async handle({ document }, principal) {
        const made = await papers.create(principal.accountId, document, nameOf(principal));
        return json(201, paperView(made), { Location: `${PAPERS}/${made.paper.id}` });
      },
    },
    {
      method: 'GET',
      path: `${PAPERS}/:id`,
      access,
      body: NONE,
      doc: paperOperations.get,
      handle: (request, { accountId }) => json(200, paperView(papers.get(accountId, idOf(request)))),
    },
    {
      method: 'PATCH',
      path: `${PAPERS}/:id`,
      access,
      body: JSON_BODY,
      doc: paperOperations.change,
      async handle(request, principal) {
        const by = nameOf(principal);
        return json(200, paperView(await papers.patch(principal.accountId, idOf(request), request.document, by)));
      },
    },
    {
      method: 'PATCH',
      path: `${PAPERS}/:id/publish`,
      access,
      body: { kind: 'json', bytesMax: limits.jsonBodyBytesMax },
      doc: paperOperations.publish,
      async handle(request, principal) {
        const by = nameOf(principal);
        return json(200, paperView(await papers.publish(principal.accountId, idOf(request), request.document, by)));
      },
    },
    {
      method: 'DELETE',
      path: `${PAPERS}/:id`,
      access,
      body: NONE,
      doc: paperOperations.remove,
      async handle(request, principal) {
        await papers.remove(principal.accountId, idOf(request), nameOf(principal));
        return empty(204);
      },
    },
  ];
}

function listPage(papers: Papers, accountId: string, query: URLSearchParams) {
  const read = readQuery(pageQuery, query);
  const { papers: found, cursor } = papers.list(accountId, read);
  return {
    data: found.map(paperView),
    meta: { limit: read.limit, has_more: cursor !== undefined, cursor: cursor ?? null },
  };
}
