/** Serves the OpenAPI document, built on the first request. */
import { json, type Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { openApiDocument } from './document.ts';
import { gatewayOperations } from './own-routes.ts';

export interface OpenApiRouteOptions {
  /** Every other route of the service. */
  readonly routes: readonly Route[];
  readonly version: string;
  readonly serverUrl: string;
}

export function openApiRoute({ routes, version, serverUrl }: OpenApiRouteOptions): Route {
  const route = {
    method: 'GET',
    path: '/api/mcp/openapi.json',
    access: 'open',
    body: { kind: 'none' },
    doc: gatewayOperations.document,
  } as const;
  let document: Reply | undefined;
  const described: Route = {
    ...route,
    handle() {
      document ??= json(200, openApiDocument({ routes: [...routes, described], version, serverUrl }), {
        'Cache-Control': 'no-cache',
      });
      return document;
    },
  };
  return described;
}
