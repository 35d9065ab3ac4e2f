/** Owns a whole gateway request: one message or a batch in, one reply out. */
import type { Fault } from '../fault.ts';
import { type ByteRun, runOf } from '../http/byte-run.ts';
import { empty, json, type Reply } from '../http/reply.ts';
import type { RouteRequest } from '../http/route.ts';
import { refusalReply } from '../http/status.ts';
import { limits } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Session } from '../session.ts';
import { INTERNAL, INVALID_REQUEST, rpcError } from './codes.ts';
import { type Dialect, type McpHeaders, MODERN_VERSION, readDialect, refusedVersion } from './dialect.ts';
import { failure, type Message, type RpcId, type RpcResponse, readMessage, success } from './envelope.ts';
import { type AnsweredListing, goesAsLines, jsonReply, jsonRuns, LINES, listingLines, wantsLines } from './listing.ts';
import { answerMethod } from './methods.ts';
import type { ToolRegistry } from './registry.ts';
import type { ToolCaller } from './tool.ts';

/** Braces that close behind the structured result: its own, the result's, the response's. */
const STRUCTURED_DEPTH = 3;

export interface GatewayOptions {
  readonly registry: ToolRegistry;
  readonly version: string;
  readonly log: Log;
}

/** One answered message, and the HTTP status it asks for when it travels alone. */
interface Answered {
  readonly response: RpcResponse;
  readonly status: number;
  /** Belongs into the response. */
  readonly listing?: AnsweredListing | undefined;
  readonly dialect?: Dialect;
}

export class Gateway {
  readonly #options: GatewayOptions;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Answers a parsed body. */
  async answer(request: RouteRequest, session: Session | undefined, caller: ToolCaller): Promise<Reply> {
    const { document } = request;
    if (Array.isArray(document)) return await this.#answerBatch(document, request, session, caller);
    const headers = headersOf(request);
    const answered = await this.#answerMessage(readMessage(document), headers, session, caller);
    if (answered !== undefined) return reply(request, answered);
    // What needs no answer must still be spoken in a version that is known (MCP, transports).
    const refused = refusedVersion(headers.version);
    return refused === undefined ? empty(202) : json(400, failure(null, refused));
  }

  /** Items run concurrently; each counts against the rate limit, and one that fails harms no other. */
  async #answerBatch(
    items: readonly unknown[],
    request: RouteRequest,
    session: Session | undefined,
    caller: ToolCaller,
  ): Promise<Reply> {
    const refuse = (message: string, status = 200) => json(status, failure(null, { code: INVALID_REQUEST, message }));
    // The other headers describe one message.
    const headers = { version: headersOf(request).version, method: undefined, name: undefined };
    const refused = refusedVersion(headers.version);
    if (refused !== undefined) return json(400, failure(null, refused));
    if (headers.version === MODERN_VERSION) return refuse(`${MODERN_VERSION} has no batches; send one message`, 400);
    if (items.length === 0) return refuse('a batch must hold at least one request');
    if (items.length > limits.batchItemsMax) {
      return refuse(`a batch may hold ${limits.batchItemsMax} items, this one has ${items.length}; send it in parts`);
    }
    if (items.length > 1) request.charge(items.length - 1);
    const done: Answered[] = [];
    await Promise.all(
      items.map(async (item) => {
        const answered = await this.#answerMessage(readMessage(item), headers, session, caller);
        if (answered !== undefined) done.push(answered);
      }),
    );
    if (done.length === 0) return empty(202);
    return batchReply(request, done);
  }

  async #answerMessage(
    message: Message,
    headers: McpHeaders,
    session: Session | undefined,
    caller: ToolCaller,
  ): Promise<Answered | undefined> {
    if (message.kind === 'answer') return undefined;
    if (message.kind === 'invalid') {
      return { response: failure(message.id, { code: INVALID_REQUEST, message: message.reason }), status: 200 };
    }
    const dialect = readDialect(headers, message.method, message.params);
    if (message.kind === 'notification') return undefined;
    if (!dialect.ok) return { response: failure(message.id, dialect.error), status: 400 };
    const context = { ...this.#options, session, caller, dialect: dialect.dialect };
    try {
      const made = await answerMethod(context, message.method, message.params);
      if (made.ok) {
        const response = success(message.id, made.result);
        return { response, status: 200, listing: made.listing, dialect: dialect.dialect };
      }
      return { response: failure(message.id, made.error), status: made.status };
    } catch (error) {
      return this.#broken(message.id, error);
    }
  }

  #broken(id: RpcId, error: unknown): Answered {
    this.#options.log.error({ err: error }, 'a gateway call broke an assumption');
    return { response: failure(id, { ...rpcError({ kind: 'internal' }), code: INTERNAL }), status: 200 };
  }
}

/** How the gateway words a refusal that came before any message was read. */
export function gatewayRefusal(fault: Fault): Reply {
  const plain = refusalReply(fault);
  const body = failure(null, rpcError(fault));
  // A body that is no JSON is an answer of the protocol, not a failure of the transport.
  const status = fault.kind === 'invalid_json' ? 200 : plain.status;
  return { ...plain, status, body: JSON.stringify(body) };
}

function reply(request: RouteRequest, { response, status, listing, dialect = 'bare' }: Answered): Reply {
  if (listing !== undefined) {
    if (goesAsLines(request, listing, dialect)) return listingLines(response.id, listing);
    return jsonReply(jsonRuns(response, listing, STRUCTURED_DEPTH));
  }
  const headers = status === 401 ? { 'WWW-Authenticate': 'McpKey realm="cairn"' } : {};
  return wantsLines(request) && status === 200 ? lines([response]) : json(status, response, headers);
}

/** An array, or one response per line in the order in which they were done. */
function batchReply(request: RouteRequest, done: readonly Answered[]): Reply {
  const asLines = wantsLines(request);
  if (done.every(({ listing }) => listing === undefined)) {
    const responses = done.map(({ response }) => response);
    return asLines ? lines(responses) : json(200, responses);
  }
  const runs = done.flatMap(({ response, listing }, index): ByteRun[] => [
    runOf(asLines ? '' : index === 0 ? '[' : ','),
    ...(listing === undefined ? [runOf(JSON.stringify(response))] : jsonRuns(response, listing, STRUCTURED_DEPTH)),
    ...(asLines ? [runOf('\n')] : []),
  ]);
  return asLines ? jsonReply(runs, LINES) : jsonReply([...runs, runOf(']')]);
}

function headersOf(request: RouteRequest): McpHeaders {
  return {
    version: request.header('mcp-protocol-version'),
    method: request.header('mcp-method'),
    name: request.header('mcp-name'),
  };
}

/** One response per line, in the order in which they were done. */
function lines(responses: readonly RpcResponse[]): Reply {
  const body = responses.map((response) => `${JSON.stringify(response)}\n`).join('');
  return {
    status: 200,
    headers: { 'Content-Type': LINES, 'Cache-Control': 'no-store' },
    body,
  };
}
