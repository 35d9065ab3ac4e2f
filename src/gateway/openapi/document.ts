/** Builds the OpenAPI 3.1 document from the routes and their docs, and serves it. */
import { inTurns } from '../../common/turns.ts';
import { IF_NONE_MATCH, KeptFile } from '../../http/route/kept-file.ts';
import { operation } from '../../http/route/operation.ts';
import type { Route } from '../../http/route/route.ts';
import { Components, type Json } from './components.ts';
import { describedOperation } from './operation.ts';
import { anyObject } from './own-routes.ts';

export interface OpenApiInput {
  /** Every route of the service; to `openApiRoute`, every other one. */
  readonly routes: readonly Route[];
  readonly version: string;
  readonly serverUrl: string;
}

const DESCRIPTION = [
  'A self-hosted hub for people and their AI agents: tasks, documents, file sync and encrypted git backups.',
  'Every request names its client (`User-Agent: <tool>/<version>`); default names of command-line tools are refused.',
  'HEAD works wherever GET does. Every answer carries `X-Request-Id`; quote it to the operator.',
].join('\n\n');

const SECURITY_SCHEMES: Json = {
  McpKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`McpKey`, one space, an MCP key or the account key',
  },
  MirrorToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`McpKey`, one space, the token of the mirror credential',
  },
  AccessToken: { type: 'http', scheme: 'bearer', description: 'An access token' },
};

const TAG_TEXTS: Readonly<Record<string, string>> = {
  probes: 'Whether the service is up and accepts requests',
  account: 'Whose a credential is',
  oauth: 'Signing in devices, and their tokens',
  mirror: 'Backups of git repositories: encrypted archives, signed by the uploader',
  tasks: 'Tasks of an account',
  categories: 'Categories of tasks and papers',
  papers: 'Papers of an account, drafts and published',
  events: 'What changed in an account, by a cursor',
  gateway: 'JSON-RPC 2.0 and MCP, and this document',
  tools: 'Every tool of the gateway as a separate operation',
};

/**
 * Builds the document in turns of the event loop. Pages are excluded: they are not part of the API. Rejects when a
 * route has no doc, when two routes describe one operation, or when two different schemas have the same title.
 */
export function openApiDocument(input: OpenApiInput): Promise<Json> {
  return inTurns(stepsOf(input));
}

/** Describes one operation in each step. */
function* stepsOf({ routes, version, serverUrl }: OpenApiInput): Generator<void, Json> {
  const components = new Components();
  const tags = new Set<string>();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    // Read it once: some routes build their doc on access.
    const { doc: said } = route;
    if (said === 'page') continue;
    let count = 0;
    for (const doc of Symbol.iterator in said ? said : [said]) {
      count += 1;
      tags.add(doc.tag);
      const path = (doc.path ?? route.path).replace(/:([a-zA-Z_]+)/g, '{$1}');
      const method = route.method.toLowerCase();
      if (paths[path]?.[method] !== undefined) throw new Error(`${method} ${path} is described twice`);
      paths[path] = { ...paths[path], [method]: describedOperation(route, doc, components) };
      yield;
    }
    if (count === 0) throw new Error(`${route.method} ${route.path} has no description`);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Cairn', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: serverUrl }],
    tags: [...tags].sort().map((name) => ({ name, description: TAG_TEXTS[name] ?? name })),
    paths,
    components: { ...components.document(), securitySchemes: SECURITY_SCHEMES },
  };
}

/** Serves the document, built on the first request, in turns: it takes as long as a thousand small calls. */
export function openApiRoute({ routes, version, serverUrl }: OpenApiInput): Route {
  let file: Promise<KeptFile> | undefined;
  const build = async (): Promise<KeptFile> => {
    const document = await openApiDocument({ routes: [...routes, own], version, serverUrl });
    return new KeptFile(Buffer.from(JSON.stringify(document)), {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-cache',
    });
  };
  const own: Route = operation({
    method: 'GET',
    path: '/api/mcp/openapi.json',
    operationId: 'getOpenApi',
    tag: 'gateway',
    summary: 'This document',
    access: 'open',
    headers: IF_NONE_MATCH,
    answer: {
      headers: ['ETag'],
      description: 'The OpenAPI document',
      schema: {
        type: 'object',
        properties: { openapi: { type: 'string', pattern: '^3\\.1\\.' }, info: anyObject, paths: anyObject },
        required: ['openapi', 'info', 'paths'],
        additionalProperties: true,
      },
    },
    answers: { 304: { description: "Not modified: the client's copy is current", headers: ['ETag'] } },
    async reply({ request }) {
      file ??= build();
      return await (await file).reply(request);
    },
  });
  return own;
}
