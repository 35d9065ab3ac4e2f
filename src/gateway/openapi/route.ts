/** Serves the OpenAPI document, built on the first request. */

import { json, type Reply } from '../../http/reply/reply.ts';
import { operation } from '../../http/route/operation.ts';
import type { Route } from '../../http/route/route.ts';
import { openApiDocument } from './document.ts';
import { anyObject } from './own-routes.ts';

export interface OpenApiRouteOptions {
  /** Every other route of the service. */
  readonly routes: readonly Route[];
  readonly version: string;
  readonly serverUrl: string;
}

export function openApiRoute({ routes, version, serverUrl }: OpenApiRouteOptions): Route {
  let document: Reply | undefined;
  const own = operation({
    method: 'GET',
    path: '/api/mcp/openapi.json',
    operationId: 'getOpenApi',
    tag: 'gateway',
    summary: 'This document',
    access: 'open',
    answer: {
      description: 'The OpenAPI document',
      schema: {
        type: 'object',
        properties: { openapi: { type: 'string', pattern: '^3\\.1\\.' }, info: anyObject, paths: anyObject },
        required: ['openapi', 'info', 'paths'],
        additionalProperties: true,
      },
    },
    reply() {
      document ??= json(200, openApiDocument({ routes: [...routes, own], version, serverUrl }), {
        'Cache-Control': 'no-cache',
      });
      return document;
    },
  });
  return own;
}
