/** Defines the HTTP routes of the gateway: JSON-RPC and event streams at two paths, and the tools as REST routes. */

import { KEY_HEADER, type OnceCalls } from '../actors/once/calls.ts';
import { type Fault, Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { jsonText, type Reply, textOf } from '../http/reply/reply.ts';
import { refusalAs } from '../http/reply/status.ts';
import type { Authenticator, BodyParser, Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { callTool } from './call.ts';
import { rpcError } from './codes.ts';
import { type Door, doorWith, MODEL_DOOR, type OwnDoor, PROGRAM_DOOR } from './faces.ts';
import { type Asking, type Gateway, gatewayRefusal, toolCaller } from './gateway.ts';
import type { KnownResults } from './known-results.ts';
import { documentRuns, goesAsLines, jsonReply, jsonRuns, linesWish, listingLines } from './listing.ts';
import { gatewayOperations, toolOperations } from './openapi/own-routes.ts';
import type { ToolRegistry } from './registry.ts';

export interface GatewayRoutesOptions {
  readonly gateway: Gateway;
  readonly registry: ToolRegistry;
  readonly answers: KnownResults;
  readonly once: OnceCalls;
  /** Parsers for bodies of messages, and for bodies with the arguments of the tool `:name`. */
  readonly parse: { readonly messages: BodyParser; readonly args: BodyParser };
  /** Accepts account keys, MCP keys and access tokens. */
  readonly access: Authenticator;
  /** URL of this service for a Host header. */
  readonly baseUrl: (host: string) => string;
  /** URL of the sign-in metadata for `SIGN_IN_DOOR` (RFC 9728); undefined when clients need a static key. */
  readonly metadataUrl: ((host: string) => string) | undefined;
}

const BASE = '/api/mcp';
/** The gateway for clients that sign in by browser. It requires a credential from the first message on. */
export const SIGN_IN_DOOR = '/mcp';
/** All paths of the gateway. */
export const GATEWAY_PATHS = [BASE, SIGN_IN_DOOR] as const;

export function gatewayRoutes(options: GatewayRoutesOptions): Route[] {
  const { gateway, registry, answers, once, access, parse } = options;
  // Most requests have no query, and to make one costs as much as to parse a small body.
  const doorOf = (door: OwnDoor, request: RouteRequest): Door =>
    request.search === '' ? door : doorWith(door, request.query);
  const callerOf = (request: RouteRequest, door: OwnDoor = PROGRAM_DOOR) =>
    askingOf(request, options, doorOf(door, request));
  const bodyOf = (own: BodyParser) => ({ kind: 'json', bytesMax: limits.gatewayBodyBytesMax, parse: own }) as const;
  const answer = (door: OwnDoor) => {
    return (request: RouteRequest, principal: Principal | undefined) => {
      checkNotEmpty(request);
      return gateway.answer(request, principal, callerOf(request, door));
    };
  };
  const refuseAtDoor: typeof gatewayRefusal = (fault, header, body) =>
    doorRefusal(gatewayRefusal(fault, header, body), fault, options.metadataUrl?.(header('host') ?? ''));
  const shared = { method: 'POST', body: bodyOf(parse.messages), checksOrigin: true, scope: 'by_handler' } as const;
  const listening = {
    method: 'GET',
    body: { kind: 'none' },
    checksOrigin: true,
    doc: 'page',
    handle: (request: RouteRequest, principal: Principal | undefined) =>
      gateway.listen(request, principal, callerOf(request)),
  } as const;
  return [
    { ...listening, path: BASE, access: { optional: access } },
    { ...listening, path: SIGN_IN_DOOR, access, refuse: refuseAtDoor },
    {
      ...shared,
      path: BASE,
      namesRequest: true,
      access: { optional: access },
      refuse: gatewayRefusal,
      doc: gatewayOperations.rpc,
      handle: answer(PROGRAM_DOOR),
    },
    {
      ...shared,
      path: SIGN_IN_DOOR,
      namesRequest: true,
      access,
      refuse: refuseAtDoor,
      doc: gatewayOperations.signInDoor,
      handle: answer(MODEL_DOOR),
    },
    {
      ...shared,
      path: `${BASE}/tools/:name`,
      body: bodyOf(parse.args),
      access: { optional: access },
      refuse: toolRefusal,
      get doc() {
        return toolOperations(registry, `${BASE}/tools`);
      },
      async handle(request: RouteRequest, principal: Principal | undefined) {
        const lines = linesWish(request, 'bare');
        const caller = toolCaller(callerOf(request), lines, request.noteCall());
        const context = { registry, answers, once, principal, caller, key: request.header(KEY_HEADER.toLowerCase()) };
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

function askingOf(
  request: RouteRequest,
  { access, baseUrl }: Pick<GatewayRoutesOptions, 'access' | 'baseUrl'>,
  door: Door,
): Asking {
  return {
    address: request.address,
    agent: request.header('user-agent') ?? '',
    baseUrl: baseUrl(request.header('host') ?? ''),
    linger: (seconds, gone) => request.linger(seconds, gone),
    noteCall: () => request.noteCall(),
    door,
    charge: (calls) => request.charge(calls),
    callsAtOnceMax: request.callsAtOnceMax,
    isStillIn: async () => await isValid(access, request.header('authorization')),
  };
}

function checkNotEmpty({ document }: RouteRequest): void {
  if (document === undefined)
    throw new Refusal({ kind: 'invalid_json', detail: 'body is not valid JSON: it is empty' });
}

async function isValid(access: Authenticator, authorization: string | undefined): Promise<boolean> {
  try {
    await access(authorization);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Adds the URL of the sign-in metadata to a 401 (RFC 9728, section 5.1; RFC 6750, section 3). */
function doorRefusal(plain: Reply, fault: Fault, metadataUrl: string | undefined): Reply {
  if (fault.kind !== 'unauthenticated' || metadataUrl === undefined) return plain;
  const challenge = `Bearer realm="cairn", resource_metadata="${metadataUrl}", scope="read write"`;
  return { ...plain, headers: { ...plain.headers, 'WWW-Authenticate': challenge } };
}

/** A refusal on the REST route of a tool: the REST form, plus the code and data of JSON-RPC. */
function toolRefusal(fault: Fault): Reply {
  const { code, message, data } = rpcError(fault);
  const errors = fault.kind === 'invalid_fields' ? { errors: fault.fields } : {};
  return refusalAs(fault, JSON.stringify({ error: message, ...errors, code, ...(data === undefined ? {} : { data }) }));
}
