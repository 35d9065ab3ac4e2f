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
import type { HandOver } from './hand-over.ts';

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
    const { readers, handOver, accept } = this.#options;
    const matched = this.#isDraining || framingFault(head.pairs) !== undefined ? undefined : this.#match(head);
    if (matched === undefined) {
      handOver.open(socket, head);
      return;
    }
    // The reads for this request then see every write answered before it arrived.
    readers.store.renew();
    const { route, params } = matched;
    if (principalHere(route, singleHeader(head, 'authorization')) === undefined) handOver.open(socket, head);
    else if (route.method === 'GET') accept(socket, head);
    else if (!isShort(head)) handOver.open(socket, head);
    else if (params['name'] === undefined) this.#peek(socket, head);
    else if (readers.tools.has(params['name'])) accept(socket, head);
    else handOver.open(socket, head);
  }

  #match({ method, path }: HeadFields): Match | undefined {
    try {
      return this.#router.match(method, path);
    } catch {
      // Invalid or unknown path or method: the hub thread answers it.
      return undefined;
    }
  }

  /** Reads a short body of a gateway request first, because only the body names the tool. */
  #peek(socket: Connection, head: HeadFields): void {
    const { readers, handOver, accept } = this.#options;
    let isGone = false;
    let bytes = Buffer.alloc(0);
    socket.onAborted(() => {
      isGone = true;
    });
    socket.onData((chunk, isLast) => {
      bytes = bytes.length === 0 ? Buffer.from(chunk.slice(0)) : Buffer.concat([bytes, Buffer.from(chunk)]);
      if (!isLast || isGone) return;
      if (!readers.tools.has(toolOf(bytes))) {
        handOver.open(socket, head, { bytes });
        return;
      }
      readers.store.renew();
      // The library delivers a body only once, so the next reader gets the buffered copy.
      socket.onData = (taker: (chunk: ArrayBuffer, isLast: boolean) => void) => {
        queueMicrotask(() => taker(bytes.buffer, true));
        return socket;
      };
      accept(socket, head);
    });
  }
}

/** The name of the tool called in a body; empty when there is not exactly one. */
function toolOf(body: Buffer): string {
  try {
    const message = JSON.parse(body.toString()) as { method?: unknown; params?: { name?: unknown } } | null;
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
