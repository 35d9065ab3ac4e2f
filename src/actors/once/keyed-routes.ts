/** Lets REST operations that change something be repeated by their Idempotency-Key (IETF draft of that name). */
import { z } from 'zod';
import type { Principal } from '../../common/principal.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { RouteDoc } from '../../http/route/doc.ts';
import type { Route, RouteRequest } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { KEY_HEADER, type OnceCalls } from './calls.ts';

const keyHeader = z.object({
  [KEY_HEADER]: z
    .string()
    .optional()
    .meta({
      description: `A new value for each new request, such as a UUID. For ${limits.idempotencyKeyHours} hours the same request with the same key gets the same answer, and happens once`,
      examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
    }),
});

/** The routes; those that change something for a caller with a credential accept the header. */
export function keyedRoutes(routes: readonly Route[], once: OnceCalls): Route[] {
  return routes.map((route) => keyed(route, once));
}

function keyed(route: Route, once: OnceCalls): Route {
  const { access, body, doc } = route;
  // An upload is known by its hash: the same bytes again change nothing.
  const isKeyed = route.method !== 'GET' && typeof access === 'function' && body.kind !== 'stream';
  if (!isKeyed || doc === 'page' || Symbol.iterator in doc) return route;
  const inner = route as unknown as {
    handle(request: RouteRequest, principal: Principal): Reply | Promise<Reply>;
  };
  return {
    ...route,
    doc: withKey(doc),
    handle(request: RouteRequest, principal: Principal) {
      const key = request.header(KEY_HEADER.toLowerCase());
      if (key === undefined) return inner.handle(request, principal);
      const asked = [route.method, request.path, request.search, request.document ?? null];
      return once.run({ accountId: principal.accountId, key, field: KEY_HEADER, request: asked }, () =>
        inner.handle(request, principal),
      );
    },
  } as Route;
}

function withKey(doc: RouteDoc): RouteDoc {
  return {
    ...doc,
    headers: doc.headers?.extend(keyHeader.shape) ?? keyHeader,
    refusals: [...new Set([...(doc.refusals ?? []), 422])],
  };
}
