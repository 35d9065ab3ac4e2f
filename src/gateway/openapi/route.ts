/** Serves the OpenAPI document, built once. */
import { json } from '../../http/reply/reply.ts';
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
  const described: Route = { ...route, handle: () => document };
  const document = json(200, openApiDocument({ routes: [...routes, described], version, serverUrl }), {
    'Cache-Control': 'no-cache',
  });
  return described;
}
