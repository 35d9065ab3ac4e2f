/** Answers the methods of the gateway, in each dialect. */
import { type Fault, invalidField, Refusal } from '../common/fault.ts';
import type { Parts } from '../http/reply/body.ts';
import type { AnyRun } from '../http/reply/byte-run.ts';
import { type Reply, type ReplyHeaders, textOf } from '../http/reply/reply.ts';
import { askByRepeating, ForeignState, InputRequired, type StateKeeper } from './asking/input-required.ts';
import { type CallContext, type CallResult, callTool } from './call.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, rpcError } from './codes.ts';
import { capabilitiesIn, type Dialect, LEGACY_VERSIONS, supported } from './dialect.ts';
import type { RpcError } from './envelope.ts';
import type { Door, Face } from './faces.ts';
import type { Hearer, Listening } from './listening/listening.ts';
import type { AnsweredListing } from './listing.ts';
import { inModelWords } from './model-words.ts';
import { INSTRUCTIONS } from './offers/instructions.ts';
import { needsKey, noResource, OFFER_METHODS, type Offers } from './offers/offers.ts';
import { newSessionId, offersForms } from './session-id.ts';

/** Options common to all requests. */
export interface MethodOptions extends Pick<CallContext, 'registry' | 'answers' | 'once'> {
  readonly version: string;
  /** Path of this hub's icon, an SVG. */
  readonly icon: string;
  readonly offers: Offers;
  readonly states: StateKeeper;
  readonly listening: Listening;
}

/** The context of one request. */
export interface MethodContext extends Pick<CallContext, 'principal' | 'caller'> {
  readonly options: MethodOptions;
  readonly dialect: Dialect;
  readonly door: Door;
  /** Session id, for clients before 2026-07-28. */
  readonly sessionId: string | undefined;
  /** Who listens, for streams; undefined without a credential. */
  readonly hearer: () => Hearer | undefined;
}

interface MethodResult {
  readonly ok: true;
  /** JSON of an object. */
  readonly result: Parts;
  /** Inserted into `structuredContent`, which is then the last member of the result. */
  readonly listing?: AnsweredListing;
  /** Replaces the empty `structuredContent`, which is then the last member of the result. */
  readonly document?: AnyRun;
  /** Headers of the reply when it is not part of a batch. */
  readonly headers?: ReplyHeaders;
  /** Replaces the whole reply. */
  readonly stream?: Reply;
}

export type MethodAnswer =
  | MethodResult
  /** `status`: the HTTP status of this error outside a batch; 200 unless clients react to another status. */
  | { readonly ok: false; readonly error: RpcError; readonly status: 200 | 401 | 403 | 404 };

/** How long a modern client may cache a list, in milliseconds. */
const LIST_TTL_MS = 300_000;

/** The methods of all dialects. Others are unknown, whatever their params. */
const METHODS: ReadonlySet<string> = new Set([
  'tools/list',
  'tools/call',
  'initialize',
  'ping',
  'server/discover',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  ...OFFER_METHODS,
]);

/**
 * Answers a method; `id`: JSON of the message's id. A refusal of a tool is an error in the bare dialect, and a result
 * with `isError` in MCP.
 */
export function answerMethod(
  context: MethodContext,
  method: string,
  params: unknown,
  id: string,
): MethodAnswer | Promise<MethodAnswer> {
  const { dialect } = context;
  if (!METHODS.has(method)) return unknownMethod(context, method);
  if (Array.isArray(params)) return invalidParams('params', 'params must be an object');
  switch (method) {
    case 'tools/list':
      if (cursorOf(params) !== undefined) {
        return invalidParams('cursor', 'cursor is unknown; all tools are on one page, so omit it');
      }
      return answerList(context);
    case 'tools/call':
      return answerCall(context, params as Record<string, unknown> | undefined);
    case 'initialize':
      return dialect === 'modern' ? unknownMethod(context, method) : initialize(context, params);
    case 'ping':
      return dialect === 'modern' ? unknownMethod(context, method) : { ok: true, result: ['{}'] };
    case 'server/discover':
      return discover(context);
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return dialect === 'modern' ? unknownMethod(context, method) : subscribe(context, method, params);
    case 'subscriptions/listen':
      return dialect === 'modern' ? listen(context, params, id) : unknownMethod(context, method);
    default:
      return answerOffer(context, method, params);
  }
}

async function answerList(context: MethodContext): Promise<MethodAnswer> {
  const text = await context.options.registry.listText(faceOf(context));
  return result(context, `"tools":${text}`, listCache('private'));
}

/** What a caller's list shows. */
function faceOf({ door, principal }: MethodContext): Face {
  return { ...door, readOnly: principal?.readOnly === true };
}

/** Subscriptions before 2026-07-28; changes are sent on the stream of the session. */
async function subscribe(context: MethodContext, method: string, params: unknown): Promise<MethodAnswer> {
  const { options, principal, sessionId } = context;
  const { uri } = (params ?? {}) as { readonly uri?: unknown };
  return await orRefusal(async () => {
    if (principal === undefined) throw needsKey(method);
    if (sessionId === undefined) {
      throw invalidField('uri', `${method} needs the Mcp-Session-Id returned by initialize`);
    }
    const { subscriptions } = options.listening;
    if (method === 'resources/unsubscribe') subscriptions.unsubscribe(principal.accountId, sessionId, uri);
    else if (!(await subscriptions.subscribe(principal.accountId, sessionId, uri))) {
      return { ok: false, error: noResource(uri, context.dialect), status: 200 };
    }
    return { ok: true, result: ['{}'] };
  });
}

async function listen(context: MethodContext, params: unknown, id: string): Promise<MethodAnswer> {
  const { options } = context;
  const { notifications } = (params ?? {}) as { readonly notifications?: unknown };
  return await orRefusal(async () => {
    const hearer = context.hearer();
    if (hearer === undefined) throw needsKey('subscriptions/listen');
    return { ok: true, result: [], stream: await options.listening.listen(hearer, id, notifications) };
  });
}

/** Returns the answer of a method, or its Refusal as a JSON-RPC error. */
async function orRefusal(make: () => Promise<MethodAnswer>): Promise<MethodAnswer> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, error: rpcError(error.fault), status: steeringStatus(error.fault) };
  }
}

async function answerOffer(context: MethodContext, method: string, params: unknown): Promise<MethodAnswer> {
  const { options, principal, dialect } = context;
  const offered = await options.offers.answer(method, (params ?? {}) as Record<string, unknown>, principal, dialect);
  if (!offered.ok) return offered;
  const { value, cache } = offered;
  // An account's data may change with its next write.
  const kept =
    cache === undefined ? {} : cache === 'public' ? listCache('public') : { ttlMs: 0, cacheScope: 'private' };
  return result(context, membersOf(value), kept);
}

function invalidParams(field: string, message: string): MethodAnswer {
  return { ok: false, error: { code: INVALID_PARAMS, message, data: { field } }, status: 200 };
}

function cursorOf(params: unknown): unknown {
  return (params as { readonly cursor?: unknown } | undefined)?.cursor ?? undefined;
}

async function answerCall(context: MethodContext, params: Record<string, unknown> | undefined): Promise<MethodAnswer> {
  const { options, principal, dialect } = context;
  try {
    // In the other dialects the caller already has its way of asking.
    const caller = dialect === 'modern' ? { ...context.caller, ask: askByResult(context, params) } : context.caller;
    const { args, detail } = withoutDetail(params?.['arguments']);
    const made = await callTool(
      {
        registry: options.registry,
        answers: options.answers,
        once: options.once,
        principal,
        caller,
        // MCP clients call only what their list has.
        face: dialect === 'bare' ? undefined : faceOf(context),
      },
      params?.['name'],
      args,
    );
    const { structured, listing, document } = made;
    const isForModel =
      context.door.form === 'models' &&
      dialect !== 'bare' &&
      !detail &&
      (listing === undefined || caller.lines !== 'asked');
    if (isForModel) return plainResult(context, made);
    const answer = result(context, made.members);
    if (document !== undefined) return { ...answer, document };
    if (listing === undefined) return answer;
    return { ...answer, listing: { ...listing, structured: textOf([structured]), tool: String(params?.['name']) } };
  } catch (error) {
    if (error instanceof InputRequired) return result(context, membersOf(error.members), {}, 'input_required');
    if (error instanceof ForeignState) return { ok: false, error: rpcError(error.fault), status: 200 };
    if (!(error instanceof Refusal)) throw error;
    const told = rpcError(error.fault);
    // A missing credential or scope also sets the HTTP status: clients start a sign-in on it.
    const status = steeringStatus(error.fault);
    if (error.fault.kind === 'unknown_tool' && context.door.form === 'models') {
      return { ok: false, error: { ...told, message: inModelWords(told.message) }, status };
    }
    if (dialect === 'bare' || status !== 200 || error.fault.kind === 'unknown_tool') {
      return { ok: false, error: told, status };
    }
    // No structuredContent: clients validate it against the output schema, which an error does not match.
    const isForModels = options.registry.isForModels(params?.['name']);
    const text = isForModels ? inModelWords(told.message) : told.message;
    return result(context, membersOf({ content: [{ type: 'text', text }], isError: true }));
  }
}

/** The result in words; what would be streamed beside them is closed. */
function plainResult(context: MethodContext, { plain, listing, document }: CallResult): MethodAnswer {
  const answer = result(context, plain);
  for (const run of [listing?.lines, ...Object.values(listing?.members ?? {}), document]) {
    if (run !== undefined && 'close' in run) run.close?.();
  }
  return answer;
}

/** `detail: true` of any call asks for the whole structured result, with hashes and clocks. */
function withoutDetail(given: unknown): { readonly args: unknown; readonly detail: boolean } {
  if (typeof given !== 'object' || given === null || !('detail' in given)) return { args: given, detail: false };
  const { detail, ...args } = given as Record<string, unknown>;
  const isMeant = typeof detail === 'boolean';
  return isMeant ? { args, detail } : { args: given, detail: false };
}

/** How a tool asks the user of a modern client; undefined when the client does not support it. */
function askByResult({ principal, options }: MethodContext, params: Record<string, unknown> | undefined) {
  if (principal === undefined || !offersForms(capabilitiesIn(params))) return undefined;
  const { name, arguments: args, inputResponses, requestState } = params ?? {};
  const call = { accountId: principal.accountId, tool: String(name), args, inputResponses, requestState };
  return askByRepeating(call, options.states);
}

function steeringStatus(fault: Fault): 200 | 401 | 403 {
  if (fault.kind === 'unauthenticated') return 401;
  return fault.kind === 'insufficient_scope' && fault.canStepUp ? 403 : 200;
}

/** Clients can listen for changes of resources and prompts. Tools never change while a hub runs. */
const OFFERED = {
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
};

function initialize(context: MethodContext, params: unknown): MethodAnswer {
  const { protocolVersion, capabilities } = (params ?? {}) as { protocolVersion?: unknown; capabilities?: unknown };
  const asked = typeof protocolVersion === 'string' ? protocolVersion : '';
  const answer = {
    protocolVersion: LEGACY_VERSIONS.includes(asked) ? asked : LEGACY_VERSIONS[0],
    capabilities: { tools: { listChanged: false }, ...OFFERED },
    serverInfo: fullServerInfo(context),
    instructions: INSTRUCTIONS,
  };
  return {
    ok: true,
    result: [JSON.stringify(answer)],
    headers: { 'Mcp-Session-Id': newSessionId(capabilities) },
  };
}

function discover(context: MethodContext): MethodAnswer {
  const offer = {
    supportedVersions: supported(),
    capabilities: { tools: {}, ...OFFERED },
    instructions: INSTRUCTIONS,
  };
  return result(context, membersOf(offer), listCache('public'), 'complete', fullServerInfo(context));
}

/** Builds a result of JSON members. A modern one adds its type, the server, and `modernOnly` (cache time of lists). */
function result(
  context: MethodContext,
  members: string | Uint8Array,
  modernOnly: Readonly<Record<string, unknown>> = {},
  resultType: 'complete' | 'input_required' = 'complete',
  server: object = serverInfo(context),
): MethodResult {
  if (context.dialect !== 'modern') return { ok: true, result: ['{', members, '}'] };
  const meta = { 'io.modelcontextprotocol/serverInfo': server };
  const first = membersOf({ resultType, _meta: meta, ...modernOnly });
  return { ok: true, result: [`{${first},`, members, '}'] };
}

/** JSON of an object without the braces. */
function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

function listCache(cacheScope: 'public' | 'private') {
  return { ttlMs: LIST_TTL_MS, cacheScope };
}

function serverInfo({ options }: MethodContext) {
  return { name: 'cairn', title: 'Cairn', version: options.version };
}

/** The server info with the icon; only `initialize` and `server/discover` need it. */
function fullServerInfo(context: MethodContext) {
  const { caller, options } = context;
  const icons = [{ src: caller.baseUrl + options.icon, mimeType: 'image/svg+xml', sizes: ['any'] }];
  return { ...serverInfo(context), icons };
}

function unknownMethod({ dialect }: MethodContext, method: string): MethodAnswer {
  const message = `unknown method ${method.slice(0, 64)}; use tools/list or tools/call`;
  return { ok: false, error: { code: METHOD_NOT_FOUND, message }, status: dialect === 'modern' ? 404 : 200 };
}
