/**
 * Decides, in a front, where a request is answered: in this thread if it is read-only and its credential is known here,
 * otherwise on the hub thread, which then gets the whole request.
 */
import { principalHere, type Readers } from '../compose/readers.ts';
import type { Connection } from '../http/library/listen.ts';
import { framingFault } from '../http/request/framing.ts';
import type { HeadFields } from '../http/request/head.ts';
import { type Match, Router } from '../http/route/router.ts';
import { limits } from '../limits/service.ts';
import { type HandOver, hasBody, type PassBody } from './hand-over.ts';

export interface FrontRequestsOptions {
  readonly readers: Readers;
  readonly handOver: HandOver;
  /** Answers a request in this thread. */
  readonly accept: (socket: Connection, head: HeadFields) => void;
}

export class FrontRequests {
  readonly #options: FrontRequestsOptions;
  readonly #router: Router;
  #isDraining = false;

  constructor(options: FrontRequestsOptions) {
    this.#options = options;
    this.#router = new Router(options.readers.routes);
  }

  /** Hands over every request from now on: only the hub thread knows that the service is draining. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Accepts a request. Called within the callback of the HTTP library. */
  take(socket: Connection, head: HeadFields): void {
    const place = this.#placeOf(head);
    if (place === 'here') this.#options.accept(socket, head);
    else if (place === 'by_body') this.#peek(socket, head);
    else this.#handOver(socket, head);
  }

  #placeOf(head: HeadFields): 'here' | 'by_body' | 'hub' {
    if (this.#isDraining || framingFault(head.pairs) !== undefined) return 'hub';
    const matched = this.#match(head);
    if (matched === undefined) return 'hub';
    const { readers } = this.#options;
    // The reads for this request then see every write answered before it arrived.
    readers.store.renew();
    const { route, params } = matched;
    if (principalHere(route, singleHeader(head, 'authorization')) === undefined) return 'hub';
    if (route.method === 'GET') return 'here';
    if (!isShort(head)) return 'hub';
    const name = params['name'];
    if (name === undefined) return 'by_body';
    return readers.tools.has(name) ? 'here' : 'hub';
  }

  #match({ method, path }: HeadFields): Match | undefined {
    try {
      return this.#router.match(method, path);
    } catch {
      // Invalid or unknown path or method: the hub thread answers it.
      return undefined;
    }
  }

  #handOver(socket: Connection, head: HeadFields): void {
    const pass = this.#options.handOver.open(socket, head);
    if (hasBody(head)) socket.onData((chunk, isLast) => pass(new Uint8Array(chunk), isLast));
  }

  /**
   * Looks into the body of a gateway request, because only the body names the tool. A body that does not arrive at once
   * is handed over, so nothing is kept here for a slow client.
   */
  #peek(socket: Connection, head: HeadFields): void {
    const { readers, handOver, accept } = this.#options;
    let isGone = false;
    let pass: PassBody | undefined;
    socket.onAborted(() => {
      isGone = true;
    });
    socket.onData((chunk, isLast) => {
      if (isGone) return;
      if (pass !== undefined || !isLast || !readers.tools.has(toolOf(chunk))) {
        pass ??= handOver.open(socket, head);
        pass(new Uint8Array(chunk), isLast);
        return;
      }
      const body = chunk.slice(0);
      readers.store.renew();
      // The library delivers a body only once, so the next reader gets the copy.
      socket.onData = (taker: (chunk: ArrayBuffer, isLast: boolean) => void) => {
        queueMicrotask(() => taker(body, true));
        return socket;
      };
      accept(socket, head);
    });
  }
}

/** The name of the tool called in a body; empty when there is not exactly one. */
function toolOf(body: ArrayBuffer): string {
  try {
    const message = JSON.parse(Buffer.from(body).toString()) as {
      method?: unknown;
      params?: { name?: unknown };
    } | null;
    const name = message?.method === 'tools/call' ? message.params?.name : undefined;
    return typeof name === 'string' ? name : '';
  } catch {
    // The hub thread answers with the error.
    return '';
  }
}

/** True when the body is short and its length is declared. */
function isShort(head: HeadFields): boolean {
  const declared = Number(singleHeader(head, 'content-length') ?? 0);
  return declared > 0 && declared <= limits.peekedBytesMax && singleHeader(head, 'transfer-encoding') === undefined;
}

/** The value of a header sent exactly once; undefined for a repeated one, which the hub thread handles. */
function singleHeader({ pairs }: HeadFields, name: string): string | undefined {
  const [first, ...others] = pairs.filter((pair) => pair[0] === name);
  return others.length === 0 ? first?.[1] : undefined;
}
