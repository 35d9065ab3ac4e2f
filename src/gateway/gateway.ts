/** Owns a whole gateway request: one message or a batch in, one reply out. */
import type { Fault } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import type { Session } from '../common/session.ts';
import { turns } from '../common/turns.ts';
import type { ByteSource, Parts } from '../http/reply/body.ts';
import { type AnyRun, runOf, sourceOf } from '../http/reply/byte-run.ts';
import { feedOf } from '../http/reply/feed.ts';
import { empty, feed, jsonText, type Reply, type ReplyHeaders, textOf } from '../http/reply/reply.ts';
import { INSUFFICIENT_SCOPE, refusalReply } from '../http/reply/status.ts';
import type { ReadHeader, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { exactId } from './body/exact-id.ts';
import { type GatewayBody, requestIdIn } from './body/read-body.ts';
import { INTERNAL, INVALID_REQUEST, modernError, rpcError } from './codes.ts';
import { type Dialect, type McpHeaders, MODERN_VERSION, readDialect, refusedVersion } from './dialect.ts';
import { failure, isAnswered, type Message, type RpcError, type RpcId, readMessage, success } from './envelope.ts';
import type { KnownResults } from './known-results.ts';
import {
  type AnsweredListing,
  documentRuns,
  goesAsLines,
  jsonReply,
  jsonRuns,
  LINES,
  linesWish,
  listingLines,
  wantsLines,
} from './listing.ts';
import { readsEvents } from './live/event-feed.ts';
import type { StateKeeper } from './live/input-required.ts';
import { answerOrAsk } from './live/open-call.ts';
import { Questions } from './live/questions.ts';
import { readSession, SESSION_HEADER } from './live/session-id.ts';
import { answerMethod } from './methods.ts';
import type { Offers } from './offers/offers.ts';
import type { ToolRegistry } from './registry.ts';
import type { LinesWish, ToolCaller } from './tool.ts';

const LINES_HEADERS = { 'Content-Type': LINES, 'Cache-Control': 'no-store' };

/** Braces that close behind the structured result: its own, the result's, the response's. */
const STRUCTURED_DEPTH = 3;

export interface GatewayOptions {
  readonly registry: ToolRegistry;
  readonly answers: KnownResults;
  readonly offers: Offers;
  readonly states: StateKeeper;
  readonly version: string;
  readonly log: Log;
}

/** One answered message, and the HTTP status it asks for when it travels alone. */
interface Answered {
  readonly id: RpcId;
  /** JSON of the response. */
  readonly response: Parts;
  readonly status: number;
  /** Belongs into the response. */
  readonly listing?: AnsweredListing | undefined;
  readonly lines?: LinesWish;
  /** Of a failure. */
  readonly code?: number;
  /** Takes the place of the empty structured result. */
  readonly document?: AnyRun | undefined;
  readonly headers?: ReplyHeaders | undefined;
}

/** Who calls, but for what follows from the message. */
export type Asking = Omit<ToolCaller, 'lines' | 'note'> & Pick<RouteRequest, 'noteCall'>;

/** Whom a message is answered for. */
interface From {
  readonly session: Session | undefined;
  readonly caller: Asking;
  readonly wish: (dialect: Dialect) => LinesWish;
}

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #questions = new Questions();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Answers a body that was parsed as messages. */
  async answer(request: RouteRequest, session: Session | undefined, caller: Asking): Promise<Reply> {
    const { document, ids } = request.document as GatewayBody;
    if (Array.isArray(document)) return await this.#answerBatch({ items: document, ids }, request, session, caller);
    const headers = headersOf(request);
    const wish = (dialect: Dialect) => linesWish(request, dialect);
    const message = readMessage(document, exactId(document, ids[0]));
    const from = { session, caller, wish };
    this.#takeNews(message, headers, session);
    const open = this.#openCall(request, message, headers, from);
    if (open !== undefined) return await open;
    const answered = await this.#answerMessage(message, headers, from);
    if (answered !== undefined) return reply(request, answered);
    // What needs no answer must still be spoken in a version that is known (MCP, transports).
    const refused = refusedVersion(headers.version);
    return refused === undefined ? empty(202) : jsonText(400, failure(null, refused));
  }

  /** What a client of before 2026-07-28 sends about a question that it was asked. */
  #takeNews(message: Message, { session: of }: McpHeaders, session: Session | undefined): void {
    if (session === undefined || of === undefined) return;
    if (message.kind === 'answer') {
      this.#questions.answer(session.accountId, of.id, message.id, message.result);
    } else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: unknown };
      this.#questions.cancel(session.accountId, of.id, JSON.stringify(requestId));
    }
  }

  /** A call of a client that can be asked; undefined: it cannot, in this way. */
  #openCall(request: RouteRequest, message: Message, headers: McpHeaders, from: From): Promise<Reply> | undefined {
    const { session, caller } = from;
    if (message.kind !== 'request' || message.method !== 'tools/call' || session === undefined) return undefined;
    const { session: of } = headers;
    if (of?.canAsk !== true || !readsEvents(request.header('accept'))) return undefined;
    const asker = {
      caller: { accountId: session.accountId, address: caller.address },
      sessionId: of.id,
      callId: JSON.stringify(message.id),
    };
    return answerOrAsk({
      questions: this.#questions,
      asker,
      onGone: (gone) => caller.linger(limits.questionSecondsMax, gone),
      answer: (ask) => this.#answerMessage(message, headers, { ...from, caller: { ...caller, ask } }),
      whole: (answered) => (answered === undefined ? empty(202) : reply(request, answered)),
      text: (answered) => (answered === undefined || isStreamed(answered) ? undefined : textOf(answered.response)),
    });
  }

  /** Items run concurrently; each counts against the rate limit, and one that fails harms no other. */
  async #answerBatch(
    { items, ids }: Pick<GatewayBody, 'ids'> & { readonly items: readonly unknown[] },
    request: RouteRequest,
    session: Session | undefined,
    caller: Asking,
  ): Promise<Reply> {
    const refuse = (message: string, status = 200) =>
      jsonText(status, failure(null, { code: INVALID_REQUEST, message }));
    // The other headers describe one message.
    const { version, session: of } = headersOf(request);
    const headers = { version, session: of, method: undefined, name: undefined };
    const refused = refusedVersion(headers.version);
    if (refused !== undefined) return jsonText(400, failure(null, refused));
    if (headers.version === MODERN_VERSION) return refuse(`${MODERN_VERSION} has no batches; send one message`, 400);
    if (items.length === 0) return refuse('a batch must hold at least one request');
    // More than come at once would never be let through, however long the caller waits.
    const itemsMax = Math.min(limits.batchItemsMax, request.callsAtOnceMax);
    if (items.length > itemsMax) {
      return refuse(`a batch may hold ${itemsMax} items, this one has ${items.length}; send it in parts`);
    }
    if (items.length > 1) request.charge(items.length - 1);
    const messages = items.map((item, index) => readMessage(item, exactId(item, ids[index])));
    // A line of a batch is a whole answer, so no listing goes in lines of its own.
    const context = { session, caller, wish: () => 'never' as const };
    const who = session?.accountId ?? caller.address;
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
    const answered = await this.#answerNoted(message, headers, { ...from, note });
    if (answered?.code !== undefined) note.code ??= answered.code;
    return answered;
  }

  async #answerNoted(
    message: Message,
    headers: McpHeaders,
    from: From & Pick<ToolCaller, 'note'>,
  ): Promise<Answered | undefined> {
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
    const { registry, answers, offers, states, version } = this.#options;
    const lines = from.wish(dialect.dialect);
    const caller = { ...from.caller, lines, note: from.note };
    const context = {
      registry,
      answers,
      offers,
      states,
      version,
      session: from.session,
      caller,
      dialect: dialect.dialect,
    };
    try {
      const made = await answerMethod(context, message.method, message.params);
      if (!made.ok) return failed(message.id, isModern ? modernError(made.error) : made.error, made.status);
      const response = success(message.id, made.result);
      const { listing, document, headers: own } = made;
      return { id: message.id, response, status: 200, listing, document, lines, headers: own };
    } catch (error) {
      this.#options.log.error({ err: error }, 'a gateway call broke an assumption');
      from.note.status = 500;
      return failed(message.id, { ...rpcError({ kind: 'internal' }), code: INTERNAL });
    }
  }
}

/** Runs an item of a batch now if there is still time in this turn, else when its caller has the next. */
async function inTurn<T>(caller: string, run: () => Promise<T>): Promise<T> {
  if (turns.isOver) await turns.next(caller);
  return await run();
}

function failed(id: RpcId | undefined, error: RpcError, status = 200): Answered {
  return { id: id ?? null, response: [failure(id, error)], status, code: error.code };
}

function isFraction(id: RpcId): boolean {
  return typeof id === 'number' && !Number.isInteger(id);
}

/** How the gateway words a refusal that came before any message was handled. `body`: to name the request, if it is one. */
export function gatewayRefusal(fault: Fault, header: ReadHeader, body?: Uint8Array): Reply {
  const plain = refusalReply(fault);
  const isModern = header('mcp-protocol-version') === MODERN_VERSION;
  const error = rpcError(fault);
  const id = body === undefined ? undefined : requestIdIn(body);
  const text = isModern ? failure(id, modernError(error)) : failure(id ?? null, error);
  // A body that is not JSON is an answer of the protocol, not a failure of the transport.
  const status = fault.kind === 'invalid_json' ? 200 : plain.status;
  return { ...plain, status, body: text };
}

function reply(request: RouteRequest, answered: Answered): Reply {
  const { id, response, status, listing, lines: wish = 'never', headers } = answered;
  if (listing !== undefined && goesAsLines(wish, listing.lines.bytes)) return listingLines(id, listing);
  if (isStreamed(answered)) {
    return wantsLines(request) ? jsonReply([...runsOf(answered), runOf('\n')], LINES) : jsonReply(runsOf(answered));
  }
  if (status === 401) return jsonText(status, response, { 'WWW-Authenticate': 'McpKey realm="cairn"' });
  if (status === 403) return jsonText(status, response, { 'WWW-Authenticate': INSUFFICIENT_SCOPE });
  if (status !== 200 || !wantsLines(request)) return jsonText(status, response, headers);
  return { status, headers: LINES_HEADERS, body: [...response, '\n'] };
}

/** One response of a batch as a line, when it is there; undefined: it needs none. */
async function answerLine(answer: Promise<Answered | undefined>): Promise<Parts | ByteSource | undefined> {
  const answered = await answer;
  if (answered === undefined) return undefined;
  return isStreamed(answered) ? sourceOf([...runsOf(answered), runOf('\n')]) : [...answered.response, '\n'];
}

/** The responses of a batch as an array. */
function arrayReply(done: readonly Answered[]): Reply {
  if (!done.some(isStreamed)) {
    const items = done.flatMap(({ response }, index) => [index === 0 ? '[' : ',', ...response]);
    return jsonText(200, [...items, ']']);
  }
  const runs = done.flatMap((answered, index): AnyRun[] => [runOf(index === 0 ? '[' : ','), ...runsOf(answered)]);
  return jsonReply([...runs, runOf(']')]);
}

/** A part of the answer is made while it is sent. */
function isStreamed({ listing, document }: Answered): boolean {
  return listing !== undefined || document !== undefined;
}

/** One answer in JSON, without a newline. */
function runsOf({ response, listing, document }: Answered): AnyRun[] {
  const text = textOf(response);
  if (listing !== undefined) return jsonRuns(text, listing, STRUCTURED_DEPTH);
  return document === undefined ? [runOf(text)] : documentRuns(text, document, STRUCTURED_DEPTH);
}

function headersOf(request: RouteRequest): McpHeaders {
  return {
    version: request.header('mcp-protocol-version'),
    method: request.header('mcp-method'),
    name: request.header('mcp-name'),
    session: readSession(request.header(SESSION_HEADER)),
  };
}
