/** The HTTP rows of the gateway: the JSON-RPC URL, the tool mirror, and who may ask from a browser. */
import { Refusal } from '../common/fault.ts';
import type { Session } from '../common/session.ts';
import { jsonText, textOf } from '../http/reply/reply.ts';
import type { Authenticator, Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { callTool } from './call.ts';
import { type Asking, type Gateway, gatewayRefusal } from './gateway.ts';
import type { KnownResults } from './known-results.ts';
import { documentRuns, goesAsLines, jsonReply, jsonRuns, linesWish, listingLines } from './listing.ts';
import { gatewayDocs, toolDocs } from './openapi/own-routes.ts';
import type { ToolRegistry } from './registry.ts';
import { toolRefusal } from './rest-refusal.ts';

export interface GatewayRoutesOptions {
  readonly gateway: Gateway;
  readonly registry: ToolRegistry;
  readonly answers: KnownResults;
  /** Takes account keys, MCP keys and access tokens. */
  readonly access: Authenticator;
  /** This service as a request addressed it. */
  readonly baseUrl: (host: string) => string;
}

const BASE = '/api/mcp';

export function gatewayRoutes({ gateway, registry, answers, access, baseUrl }: GatewayRoutesOptions): Route[] {
  const callerOf = (request: RouteRequest): Asking => ({
    address: request.address,
    agent: request.header('user-agent') ?? '',
    baseUrl: baseUrl(request.header('host') ?? ''),
    linger: (seconds, gone) => request.linger(seconds, gone),
    charge: (calls) => request.charge(calls),
    callsAtOnceMax: request.callsAtOnceMax,
  });
  const body = { kind: 'json', bytesMax: limits.gatewayBodyBytesMax } as const;
  return [
    {
      method: 'POST',
      path: BASE,
      access: { optional: access },
      body,
      checksOrigin: true,
      refuse: gatewayRefusal,
      doc: gatewayDocs.rpc,
      async handle(request: RouteRequest, session: Session | undefined) {
        if (request.document === undefined) {
          throw new Refusal({ kind: 'invalid_json', detail: 'body is not valid JSON: it is empty' });
        }
        return await gateway.answer(request, session, callerOf(request));
      },
    },
    {
      method: 'POST',
      path: `${BASE}/tools/:name`,
      access: { optional: access },
      body,
      checksOrigin: true,
      refuse: toolRefusal,
      doc: toolDocs(registry, `${BASE}/tools`),
      async handle(request: RouteRequest, session: Session | undefined) {
        const lines = linesWish(request, 'bare');
        const context = { registry, answers, session, caller: { ...callerOf(request), lines } };
        const name = request.params['name'];
        const { structured, listing, document } = await callTool(context, name, request.document);
        if (document !== undefined) return jsonReply(documentRuns('{}', document, 1));
        if (listing === undefined) return jsonText(200, [structured]);
        const text = textOf([structured]);
        if (goesAsLines(lines, listing.lines.bytes)) {
          return listingLines(null, { ...listing, structured: text, tool: String(name) });
        }
        return jsonReply(jsonRuns(text, listing, 1));
      },
    },
  ];
}
