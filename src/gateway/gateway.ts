/** Answers gateway requests: one message or a batch in, one reply out. */
import { type Fault, Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import { addressBlock, widestNetwork } from '../common/networks.ts';
import type { Principal } from '../common/principal.ts';
import { turns } from '../common/turns.ts';
import { feedOf } from '../http/reply/feed.ts';
import { empty, feed, jsonText, type Reply } from '../http/reply/reply.ts';
import { refusalAs, statusOf } from '../http/reply/status.ts';
import type { CallNote } from '../http/request/call-note.ts';
import type { ReadHeader, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { readsEvents } from '../live/event-feed.ts';
import { answerOpenly } from './asking/open-call.ts';
import { progressTokenOf } from './asking/progress.ts';
import { Questions } from './asking/questions.ts';
import { type GatewayBody, requestIdIn } from './body/read-body.ts';
import { INTERNAL, INVALID_REQUEST, modernError, rpcError } from './codes.ts';
import { type Dialect, type McpHeaders, MODERN_VERSION, readDialect, refusedVersion } from './dialect.ts';
import {
  failure,
  idText,
  isAnswered,
  type Message,
  type RpcError,
  type RpcId,
  readMessage,
  success,
} from './envelope.ts';
import { exactId } from './exact-id.ts';
import type { Door } from './faces.ts';
import type { Hearer } from './listening/listening.ts';
import { linesWish, wantsLines } from './listing.ts';
import { answerMethod, type MethodOptions } from './methods.ts';
import { type Answered, answerEvent, answerLine, arrayReply, LINES_HEADERS, messageReply } from './replies.ts';
import { readSession, SESSION_HEADER } from './session-id.ts';
import type { LinesWish, ToolCaller } from './tool.ts';

export interface GatewayOptions extends MethodOptions {
  readonly log: Log;
}

/** The caller, without the fields that depend on the message. */
export interface Asking extends Omit<ToolCaller, 'lines' | 'note'>, Pick<RouteRequest, 'noteCall'> {
  readonly door: Door;
  /** Resolves with false when the credential of the request is no longer valid. */
  readonly isStillIn: () => Promise<boolean>;
}

/** The sender of a message. */
interface From {
  readonly principal: Principal | undefined;
  readonly caller: Asking;
  readonly wish: (dialect: Dialect) => LinesWish;
}

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #questions = new Questions();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Answers a body parsed as messages. */
  async answer(request: RouteRequest, principal: Principal | undefined, caller: Asking): Promise<Reply> {
    const { document, ids } = request.document as GatewayBody;
    if (Array.isArray(document)) return await this.#answerBatch({ items: document, ids }, request, principal, caller);
    const headers = headersOf(request);
    const wish = (dialect: Dialect) => linesWish(request, dialect);
    const message = readMessage(document, exactId(document, ids[0]));
    const from = { principal, caller, wish };
    this.#takeNews(message, headers, principal);
    const open = this.#openCall(request, message, headers, from);
    if (open !== undefined) return await open;
    const answered = await this.#answerMessage(message, headers, from);
    if (answered?.stream !== undefined) return answered.stream;
    if (answered !== undefined) return messageReply(request, answered);
    // Even a message without an answer must use a supported version (MCP, transports).
    const refused = refusedVersion(headers.version);
    return refused === undefined ? empty(202) : jsonText(400, failure(null, refused));
  }

  /** Opens the event stream of a session, for GET. Throws Refusal `method_unknown` for any other GET. */
  listen(request: RouteRequest, principal: Principal | undefined, caller: Asking): Reply {
    const of = readSession(request.header(SESSION_HEADER));
    if (of === undefined || principal === undefined || request.isHead || !readsEvents(request.header('accept'))) {
      throw new Refusal({ kind: 'method_unknown', allow: ['POST'] });
    }
    return this.#options.listening.openSession(hearerOf(principal, caller), of.id);
  }

  /** Handles answers and cancellations of questions from clients before 2026-07-28. */
  #takeNews(message: Message, { session: of }: McpHeaders, principal: Principal | undefined): void {
    if (principal === undefined || of === undefined) return;
    if (message.kind === 'answer') {
      this.#questions.answer(principal.accountId, of.id, message.id, message.result);
    } else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: unknown };
      this.#questions.cancel(principal.accountId, of.id, JSON.stringify(requestId));
    }
  }

  /** Answers a tool call whose client hears questions or progress on an event stream; undefined for any other message. */
  #openCall(request: RouteRequest, message: Message, headers: McpHeaders, from: From): Promise<Reply> | undefined {
    const { principal, caller } = from;
    if (message.kind !== 'request' || message.method !== 'tools/call' || principal === undefined) return undefined;
    const { session: of } = headers;
    const progressToken = progressTokenOf(message.params);
    const canAsk = of?.canAsk === true;
    if ((!canAsk && progressToken === undefined) || !readsEvents(request.header('accept'))) return undefined;
    const asker = canAsk && {
      caller: { accountId: principal.accountId, address: addressBlock(caller.address) },
      sessionId: of.id,
      callId: JSON.stringify(message.id),
    };
    return answerOpenly({
      asking: asker === false ? undefined : { questions: this.#questions, asker },
      progressToken,
      onGone: (gone) => caller.linger(limits.questionSecondsMax, gone),
      answer: (telling) => this.#answerMessage(message, headers, { ...from, caller: { ...caller, ...telling } }),
      whole: (answered) => (answered === undefined ? empty(202) : messageReply(request, answered)),
      last: (answered) => answered && answerEvent(answered),
    });
  }

  /** Items run concurrently. Each counts against the rate limit; a failed item does not affect others. */
  async #answerBatch(
    { items, ids }: Pick<GatewayBody, 'ids'> & { readonly items: readonly unknown[] },
    request: RouteRequest,
    principal: Principal | undefined,
    caller: Asking,
  ): Promise<Reply> {
    const refuse = (message: string, status = 200) =>
      jsonText(status, failure(null, { code: INVALID_REQUEST, message }));
    // The other headers describe a single message.
    const { version, session: of } = headersOf(request);
    const headers = { version, session: of, method: undefined, name: undefined };
    const refused = refusedVersion(headers.version);
    if (refused !== undefined) return jsonText(400, failure(null, refused));
    if (headers.version === MODERN_VERSION) return refuse(`${MODERN_VERSION} has no batches; send one message`, 400);
    if (items.length === 0) return refuse('a batch must contain at least one request');
    // A batch larger than the burst limit would be rejected however long the caller waits.
    const itemsMax = Math.min(limits.batchItemsMax, request.callsAtOnceMax);
    if (items.length > itemsMax) {
      return refuse(`a batch may contain ${itemsMax} items, this one has ${items.length}; send it in parts`);
    }
    if (items.length > 1) request.charge(items.length - 1);
    const messages = items.map((item, index) => readMessage(item, exactId(item, ids[index])));
    // A line of a batch is a whole answer, so a listing is not split into lines.
    const context = { principal, caller, wish: () => 'never' as const };
    const who = principal?.accountId ?? widestNetwork(caller.address);
    const answers = messages.map((message) => inTurn(who, () => this.#answerMessage(message, headers, context)));
    if (!messages.some(isAnswered)) {
      await Promise.all(answers);
      return empty(202);
    }
    if (wantsLines(request)) return feed(200, feedOf(answers.map(answerLine)), LINES_HEADERS);
    return arrayReply((await Promise.all(answers)).filter((answered) => answered !== undefined));
  }

  async #answerMessage(message: Message, headers: McpHeaders, from: From): Promise<Answered | undefined> {
    const note = from.caller.noteCall();
    const failed = (id: RpcId | undefined, error: RpcError, status = 200): Answered => {
      note.code ??= error.code;
      return { id: id ?? null, response: [failure(id, error)], status };
    };
    if (message.kind === 'answer') return undefined;
    if (message.kind === 'invalid') return failed(message.id, { code: INVALID_REQUEST, message: message.reason });
    const dialect = readDialect(headers, message.method, message.params);
    if (message.kind === 'notification') return undefined;
    if (!dialect.ok) return failed(message.id, dialect.error, 400);
    const isModern = dialect.dialect === 'modern';
    if (dialect.dialect !== 'bare' && (message.id === null || isFraction(message.id))) {
      const error = { code: INVALID_REQUEST, message: 'id must be a string or an integer' };
      return failed(isModern ? undefined : null, error, isModern ? 400 : 200);
    }
    const lines = from.wish(dialect.dialect);
    const { principal } = from;
    const context = {
      options: this.#options,
      principal,
      caller: toolCaller(from.caller, lines, note),
      dialect: dialect.dialect,
      door: from.caller.door,
      sessionId: headers.session?.id,
      hearer: () => principal && hearerOf(principal, from.caller),
    };
    try {
      const made = await answerMethod(context, message.method, message.params, idText(message.id));
      if (!made.ok) return failed(message.id, isModern ? modernError(made.error) : made.error, made.status);
      const response = success(message.id, made.result);
      const { listing, document, headers: own, stream } = made;
      return { id: message.id, response, status: 200, listing, document, lines, headers: own, stream };
    } catch (error) {
      this.#options.log.error({ err: error }, 'a gateway call failed unexpectedly');
      note.status = 500;
      return failed(message.id, { ...rpcError({ kind: 'internal' }), code: INTERNAL });
    }
  }
}

/** Runs a batch item now if this turn has time left, else in the caller's next turn. */
async function inTurn<T>(caller: string, run: () => Promise<T>): Promise<T> {
  if (turns.isOver) await turns.next(caller);
  return await run();
}

function isFraction(id: RpcId): boolean {
  return typeof id === 'number' && !Number.isInteger(id);
}

/** Reply for a refusal before any message was handled. `body`: its request id, if any, is included. */
export function gatewayRefusal(fault: Fault, header: ReadHeader, body?: Uint8Array): Reply {
  const isModern = header('mcp-protocol-version') === MODERN_VERSION;
  const error = rpcError(fault);
  const id = body === undefined ? undefined : requestIdIn(body);
  const text = isModern ? failure(id, modernError(error)) : failure(id ?? null, error);
  // Invalid JSON is an error of the protocol, not of the transport.
  return refusalAs(fault, text, fault.kind === 'invalid_json' ? 200 : statusOf(fault));
}

/** Copies member by member: a spread of so many costs a tenth of the time of a cached answer. */
export function toolCaller(asking: Asking, lines: LinesWish, note: CallNote): ToolCaller {
  const { address, agent, baseUrl, linger, ask, progress, charge, callsAtOnceMax } = asking;
  return { address, agent, baseUrl, lines, note, linger, ask, progress, charge, callsAtOnceMax };
}

function hearerOf({ accountId }: Principal, { address, linger, isStillIn }: Asking): Hearer {
  return { caller: { accountId, address: addressBlock(address) }, linger, isStillIn };
}

function headersOf(request: RouteRequest): McpHeaders {
  return {
    version: request.header('mcp-protocol-version'),
    method: request.header('mcp-method'),
    name: request.header('mcp-name'),
    session: readSession(request.header(SESSION_HEADER)),
  };
}
