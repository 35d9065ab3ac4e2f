/**
 * Decides, in a front, who answers a request: this thread, if it only reads and its credential is known here, or the hub
 * thread, which gets everything else whole.
 */
import { type Readers, sessionHere } from '../compose/readers.ts';
import type { Connection } from '../http/library/listen.ts';
import { framingFault } from '../http/request/framing.ts';
import type { HeadFields } from '../http/request/head.ts';
import { type Match, Router } from '../http/route/router.ts';
import { limits } from '../limits/service.ts';
import type { HandOver } from './hand-over.ts';

export interface FrontRequestsOptions {
  readonly readers: Readers;
  readonly handOver: HandOver;
  /** Answers a request here. */
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

  /** From now on the hub answers everything: it knows that the service drains. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Takes a request, within the callback of the HTTP library. */
  take(socket: Connection, head: HeadFields): void {
    const { readers, handOver, accept } = this.#options;
    const matched = this.#isDraining || framingFault(head.pairs) !== undefined ? undefined : this.#match(head);
    if (matched === undefined) {
      handOver.open(socket, head);
      return;
    }
    // What is read for this request is as new as every answer that was given before it came in.
    readers.store.renew();
    const { route, params } = matched;
    if (sessionHere(route, singleHeader(head, 'authorization')) === undefined) handOver.open(socket, head);
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
      // A path or a method of the hub's.
      return undefined;
    }
  }

  /** Reads a short body of the gateway first, since only that says which tool is called. */
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
      // The library gives a body once: whoever takes it now finds it whole.
      socket.onData = (taker: (chunk: ArrayBuffer, isLast: boolean) => void) => {
        queueMicrotask(() => taker(bytes.buffer, true));
        return socket;
      };
      accept(socket, head);
    });
  }
}

/** The tool that a body calls; empty: none, or more than one. */
function toolOf(body: Buffer): string {
  try {
    const message = JSON.parse(body.toString()) as { method?: unknown; params?: { name?: unknown } } | null;
    const name = message?.method === 'tools/call' ? message.params?.name : undefined;
    return typeof name === 'string' ? name : '';
  } catch {
    // The hub says what is wrong with it.
    return '';
  }
}

/** A body of known, small length. */
function isShort(head: HeadFields): boolean {
  const declared = Number(singleHeader(head, 'content-length') ?? 0);
  return declared > 0 && declared <= limits.peekedBytesMax && singleHeader(head, 'transfer-encoding') === undefined;
}

/** A header that came once; of one that came more often the hub thinks. */
function singleHeader({ pairs }: HeadFields, name: string): string | undefined {
  const [first, ...others] = pairs.filter((pair) => pair[0] === name);
  return others.length === 0 ? first?.[1] : undefined;
}
