/**
 * Accepts connections with one uWebSockets.js application and runs every request through the same checks, in this
 * order; the first that fails answers: framing, agent, route, credential, length, size, media type. Then the handler
 * runs with the parsed fields. Refusals are caught only here.
 */

import { type Fault, Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import type { Principal } from '../common/principal.ts';
import { StartError } from '../common/start-error.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import { authenticate } from './authenticate.ts';
import { Bag } from './bag.ts';
import { type Admission, PROBE_PATHS } from './checks/admission.ts';
import type { CountedCaller } from './checks/call-rates.ts';
import { isForPeople } from './checks/for-people.ts';
import { corsHeaders, isOriginAllowed, type OriginRule, preflightHeaders } from './checks/origin.ts';
import { type Peers, peersOf } from './checks/peers.ts';
import type { Rates } from './checks/rates.ts';
import { Exchange, type ExchangeSurroundings } from './exchange.ts';
import { AppFamily, listenExclusively } from './library/listen.ts';
import { type TlsFiles, tlsOptionsOf } from './library/tls.ts';
import {
  App,
  closeListener,
  type HttpResponse,
  localPortOf,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
} from './library/uws.ts';
import type { ExchangeEnd } from './measure/exchange-end.ts';
import type { RequestLog } from './measure/request-log.ts';
import type { Traffic } from './measure/traffic.ts';
import { openBody, ruleFor } from './open-body.ts';
import type { AnswerSocket } from './reply/answer-socket.ts';
import { encodedInTurns, isLong } from './reply/encoded.ts';
import { EndedEarly } from './reply/ended-early.ts';
import { empty, isFeed, isSource, type Reply } from './reply/reply.ts';
import { refusalReply } from './reply/status.ts';
import { turnAway } from './reply/turn-away.ts';
import { ReplyBytes } from './reply/whole.ts';
import { type IncomingBody, joined } from './request/body.ts';
import { parseForm } from './request/form-body.ts';
import { framingFault } from './request/framing.ts';
import { type HeadFields, RequestHead, readHead } from './request/head.ts';
import { checkBody, isSmallJson } from './route/check-body.ts';
import { HandlerRequest } from './route/handler-request.ts';
import type { BodyParser, Route } from './route/route.ts';
import { type Match, Router } from './route/router.ts';

export interface FrontDoorOptions {
  readonly routes: readonly Route[];
  readonly isBlockedAgent: (path: string, agent: string | undefined) => boolean;
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => string;
  readonly tls: TlsFiles | undefined;
  /** True when browsers reach this service over TLS, here or at a proxy in front. */
  readonly isSecure: boolean;
  readonly bodySeconds: number;
  readonly handlerSeconds: number;
  /** How long the reader of an answer may accept no bytes. */
  readonly stallSeconds: number;
  readonly origins: OriginRule;
  readonly rates: Rates;
  readonly traffic: Traffic;
  readonly requestLog: RequestLog;
  readonly admission: Admission;
  /** Parses the JSON body of a route without its own parser; a large one off this thread. */
  readonly parseJson: BodyParser;
  readonly log: Log;
  /** The refusal of whatever is no probe, while this process may not answer; undefined: it may. */
  readonly mayServe?: (() => Fault | undefined) | undefined;
  /** True while it is unknown whether writes that are under way are kept. */
  readonly isUnsure?: (() => boolean) | undefined;
  /** The port of the door that accepts connections for this one; undefined for a door that listens. */
  readonly acceptedAt?: number;
}

/** One matched request on its way to the handler. */
interface Call {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal | undefined;
  /** Undefined when the route accepts no body. */
  readonly body: IncomingBody | undefined;
  /** The caller that the call is counted for. */
  readonly caller: CountedCaller;
  /** Set when the call is above the rate: the body is read only to name the request in this refusal. */
  readonly tooMany: Refusal | undefined;
}

export class FrontDoor {
  /** Links this door to others, to pass on accepted connections. */
  readonly family: AppFamily;
  readonly options: FrontDoorOptions;
  readonly #router: Router;
  readonly #app: TemplatedApp;
  readonly #active = new Bag<Exchange>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #surroundings: ExchangeSurroundings;
  readonly #peers: Peers;
  #listener: us_listen_socket | undefined;
  /** The port that accepts the connections. */
  #port: number;
  #draining = false;
  #whenQuiet: (() => void) | undefined;

  constructor(options: FrontDoorOptions) {
    this.options = options;
    this.#router = new Router(options.routes);
    this.#port = options.acceptedAt ?? 0;
    this.#peers = peersOf(options, () => this.#port);
    this.#surroundings = {
      replyBytes: new ReplyBytes(),
      stallSeconds: options.stallSeconds,
      isSecure: options.isSecure,
      refuse: (exchange, fault) => this.#refuse(exchange, this.#unlessUnsure(fault)),
      onEnd: (exchange, end) => this.#onEnd(exchange, end),
      onBroken: (exchange, error) => this.#onBroken(exchange, error),
    };
    const { tls } = options;
    this.#app = tls ? SSLApp(tlsOptionsOf(tls)) : App();
    this.family = new AppFamily(this.#app);
    this.#app.filter((res, change) => this.#onConnection(res, change));
    this.#app.any('/*', (res, req) => this.#accept(res, readHead(res, req)));
    this.#sweeper = setInterval(() => {
      const nowMs = performance.now();
      for (const exchange of this.#active.all()) exchange.checkDeadline(nowMs);
    }, limits.deadlineSweepMs);
    this.#sweeper.unref();
  }

  /** Binds and returns the port. Throws StartError when the address is in use; an address is never shared. */
  listen(host: string, port: number, settings = 'CAIRN_HOST and CAIRN_PORT'): number {
    this.#listener = listenExclusively(this.#app, host, port);
    if (this.#listener === undefined) {
      throw new StartError(
        `cannot listen on ${host} port ${port} (${settings}): it is in use, not of this machine, or below 1024; choose another.`,
      );
    }
    this.#port = localPortOf(this.#listener);
    return this.#port;
  }

  /** Stops accepting and waits at most `seconds` until every exchange has ended, then closes the remaining ones. */
  async drain(seconds: number): Promise<void> {
    this.#draining = true;
    if (this.#listener !== undefined) closeListener(this.#listener);
    if (this.#active.size > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#whenQuiet = resolve;
        timer = setTimeout(resolve, seconds * 1000);
      });
      clearTimeout(timer);
    }
    this.#close();
  }

  #close(): void {
    clearInterval(this.#sweeper);
    this.#app.close();
  }

  /** Closes the connections of an account's active requests. */
  cut(accountId: string): void {
    for (const exchange of this.#active.all()) if (exchange.accountId === accountId) exchange.cut();
  }

  /** A connection was opened (1) or closed (-1). One above the limit is refused and closed before any request. */
  #onConnection(res: HttpResponse, change: number): void {
    const { admission, tls } = this.options;
    if (change < 0) admission.disconnect();
    else if (!admission.connect(() => this.#peers.isWelcome(res))) turnAway(res, tls !== undefined);
  }

  #accept(socket: AnswerSocket, fields: HeadFields): void {
    const head = new RequestHead(fields, this.options.clientAddress);
    const exchange = new Exchange(socket, head, this.#surroundings);
    this.#active.add(exchange);
    this.options.traffic.begin();
    try {
      this.#dispatch(exchange);
    } catch (error) {
      exchange.reply(this.#errorReply(exchange, error));
    }
  }

  #dispatch(exchange: Exchange): void {
    const { method, path, pairs } = exchange.head;
    const framing = framingFault(pairs);
    const { isLast, isFromProxy, hasBody } = exchange.head;
    if (framing !== undefined || isLast || (isFromProxy && !hasBody)) exchange.holdAnswer();
    if (framing !== undefined) throw new Refusal({ kind: 'bad_framing', detail: framing });
    if (this.options.isBlockedAgent(path, exchange.head.header('user-agent'))) {
      throw new Refusal({ kind: 'blocked_agent' });
    }
    if (!PROBE_PATHS.has(path)) {
      const refused = this.options.mayServe?.();
      if (refused !== undefined) throw new Refusal(refused);
      if (this.#draining) throw new Refusal({ kind: 'draining' });
      this.options.admission.checkLoop();
    }
    const origin = exchange.head.header('origin');
    exchange.addHeaders(corsHeaders(this.options.origins, origin));
    if (method === 'OPTIONS') {
      exchange.reply(empty(204, preflightHeaders(this.options.origins, origin)));
      return;
    }
    const matched = findRoute(this.#router, exchange.head);
    const route = matched.route;
    exchange.route = route.path;
    try {
      if (route.checksOrigin === true && !isOriginAllowed(this.options.origins, origin, exchange.head.header('host'))) {
        throw new Refusal({ kind: 'origin_forbidden' });
      }
      const principal = authenticate(exchange, route, this.options.rates);
      if (principal instanceof Promise) void this.#runLater(exchange, matched, principal);
      else void this.#run(exchange, this.#admit(exchange, matched, principal, undefined));
    } catch (error) {
      exchange.reply(this.#errorReply(exchange, error));
    }
  }

  /** Checks between the credential and the handler: rate, length, size, media type. */
  #admit(
    exchange: Exchange,
    { route, params }: Match,
    principal: Principal | undefined,
    early: IncomingBody | undefined,
  ): Call {
    const credential = principal?.credentialId ?? exchange.head.addressBlock;
    const caller = { credential, accountId: principal?.accountId };
    const tooMany = countCall(this.options.rates, exchange, route, caller);
    const rule = ruleFor(route.body, principal);
    checkBody(exchange.head, rule);
    const body = early ?? openBody(exchange, rule, principal !== undefined, this.options);
    return { route, params, principal, caller, tooMany, body };
  }

  /** Waits for the credential check while reading the body within its bounds: the library delivers it only once. */
  async #runLater(exchange: Exchange, matched: Match, pending: Promise<Principal | undefined>): Promise<void> {
    // If the body is refused first, nothing awaits the check any more, and the check may reject as well.
    pending.catch(() => undefined);
    const { body: rule } = matched.route;
    let body: IncomingBody | undefined;
    try {
      // A body that its head refuses is not read: that refusal is sent only after the credential check.
      const fits = rule.kind !== 'none' && (exchange.head.bytesDeclared ?? 0) <= rule.bytesMax;
      if (fits) body = openBody(exchange, rule, false, this.options);
      await this.#run(exchange, this.#admit(exchange, matched, await pending, body));
    } catch (error) {
      body?.release();
      exchange.reply(this.#errorReply(exchange, error));
    }
  }

  async #run(exchange: Exchange, call: Call): Promise<void> {
    try {
      const isRead = call.body !== undefined && (call.route.body.kind === 'json' || call.route.body.kind === 'form');
      const parts = isRead ? await call.body.collect() : [];
      const turn = call.tooMany === undefined ? turnOf(exchange) : undefined;
      if (turn !== undefined) await turn;
      const answered = this.#answer(exchange, call, parts);
      const made = answered instanceof Promise ? await answered : answered;
      const { body } = made;
      const reply = isLong(body) ? { ...made, body: [await encodedInTurns(body, exchange.turnName)] } : made;
      const isStream =
        (isSource(reply.body) || isFeed(reply.body)) && reply.listens !== true && exchange.head.method !== 'HEAD';
      if (isStream && !exchange.settled) exchange.closeStream = this.#openStream(exchange, reply);
      exchange.reply(reply);
    } catch (error) {
      exchange.reply(this.#errorReply(exchange, error));
    } finally {
      call.body?.release();
    }
  }

  /** Takes a place among the streams, or releases the source of this one when none is free. */
  #openStream({ caller }: Exchange, { body }: Reply): () => void {
    try {
      return this.options.admission.streams.take(caller);
    } catch (error) {
      if (body !== undefined && isSource(body)) body.close?.();
      throw error;
    }
  }

  #answer(exchange: Exchange, call: Call, parts: readonly Uint8Array[]): Reply | Promise<Reply> {
    const { route, params, tooMany } = call;
    const rule = route.body;
    if (tooMany !== undefined) return this.#refuse(exchange, tooMany.fault, joined(parts));
    if (rule.kind === 'form') return this.#handle(exchange, call, undefined, parseForm(joined(parts)));
    const parse = rule.kind === 'json' ? (rule.parse ?? this.options.parseJson) : undefined;
    const parsed = parse && parts.length > 0 ? parse(parts, { caller: exchange.caller, params }) : undefined;
    const handle = (document: unknown) => this.#handle(exchange, call, document, undefined);
    return parsed instanceof Promise ? parsed.then(handle) : handle(parsed);
  }

  #handle(
    exchange: Exchange,
    { route, params, principal, caller, body }: Call,
    document: unknown,
    form: URLSearchParams | undefined,
  ): Reply | Promise<Reply> {
    const request = new HandlerRequest({
      head: exchange.head,
      params,
      body,
      caller: exchange.caller,
      document,
      form,
      linger: (seconds, gone) => exchange.linger(seconds, gone),
      calls: exchange.calls,
      charge: (calls) => exchange.addHeaders(this.options.rates.countMore(caller, calls)),
      callsAtOnceMax: this.options.rates.callsAtOnceMax,
    });
    if (route.access === 'open') return route.handle(request);
    if (typeof route.access === 'object') return route.handle(request, principal);
    return route.handle(request, principal as Principal);
  }

  /** A request that waited too long for the log may be kept or not. */
  #unlessUnsure(fault: Fault): Fault {
    return fault.kind === 'handler_late' && this.options.isUnsure?.() === true ? { kind: 'outcome_unknown' } : fault;
  }

  #errorReply(exchange: Exchange, error: unknown): Reply {
    if (error instanceof Refusal) return this.#refuse(exchange, error.fault);
    this.options.log.error({ err: error, id: exchange.head.id }, 'a request broke an assumption');
    return this.#refuse(exchange, { kind: 'internal' });
  }

  /** In the format of the requested surface, except the one refusal with the same body everywhere (UA-1). */
  #refuse(exchange: Exchange, fault: Fault, body?: Uint8Array): Reply {
    const { head } = exchange;
    exchange.refused = fault.kind;
    const refuse = fault.kind === 'blocked_agent' ? undefined : this.#router.wording(head.path);
    return refuse === undefined ? refusalReply(fault) : refuse(fault, (name) => head.header(name), body);
  }

  /** Logs a broken answer, except for damaged bytes, which are logged where they are found. */
  #onBroken({ head, route }: Exchange, error: unknown): void {
    if (error instanceof Refusal && error.fault.kind === 'damaged') return;
    const level = error instanceof EndedEarly ? 'warn' : 'error';
    this.options.log[level]({ err: error, id: head.id, route }, 'an answer was cut off');
  }

  #onEnd(exchange: Exchange, end: ExchangeEnd): void {
    this.#active.remove(exchange);
    exchange.closeStream?.();
    if (this.#active.size === 0) this.#whenQuiet?.();
    this.options.traffic.record(exchange.head, exchange.route, end);
    this.options.requestLog.write(exchange, end);
  }
}

/**
 * Returns nothing when the handler may run now, else a promise of its caller's turn. Probes do not wait. Rejects when
 * the caller has gone meanwhile.
 */
function turnOf(exchange: Exchange): Promise<void> | undefined {
  if (PROBE_PATHS.has(exchange.head.path)) return undefined;
  return turns.enter(exchange.turnName)?.then(() => {
    if (exchange.settled) throw new Refusal({ kind: 'body_incomplete' });
  });
}

/**
 * Finds the route of a request. For an unknown path requested by a person's browser, this is the "not found" page.
 * Throws the Refusal of the router when no route has this path, or none with this method.
 */
function findRoute(router: Router, head: RequestHead): Match {
  try {
    return router.match(head.method, head.path);
  } catch (error) {
    const { nothing } = router;
    const isUnknown = error instanceof Refusal && error.fault.kind === 'route_unknown';
    if (nothing === undefined || !isUnknown || !isForPeople(head)) throw error;
    return { route: nothing, params: {} };
  }
}

/**
 * Counts a call. Above the rate, throws Refusal `rate_limited`, or returns it when the route names requests and the
 * body is small enough to read for that.
 */
function countCall(rates: Rates, exchange: Exchange, route: Route, caller: CountedCaller): Refusal | undefined {
  try {
    if (route.uncounted !== true) exchange.addHeaders(rates.count(caller));
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && route.namesRequest === true && isSmallJson(exchange.head)) return error;
    throw error;
  }
}
