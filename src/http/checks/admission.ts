/**
 * Bounds the load of the whole front door: connections, streamed answers, bytes of documents being read, and the delay
 * of the event loop. Work above a bound is refused with a request to retry, before it costs anything.
 */
import { Refusal } from '../../common/fault.ts';
import { Shares } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';

export interface AdmissionOptions {
  readonly connectionsMax: number;
  readonly streamsMax: number;
  /** Maximum bytes of uploads in memory, and separately of JSON and form bodies. */
  readonly inflightBytesMax: number;
  /** 0: no check. */
  readonly loopDelayMsMax: number;
  readonly loopDelayMs: () => number;
  /** Set when threads count connections together: one cell per thread, and the index of this thread's cell. */
  readonly threads?: { readonly connections: SharedArrayBuffer; readonly own: number };
}

/** Paths that are answered even while the service drains or is overloaded, when probes matter most. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

/** Bounds whose refusals are counted. */
export type Bound = 'connections' | 'event_loop';

/** Share of the connections reserved for addresses with few connections. */
const CONNECTIONS_KEPT = 1 / 4;

export class Admission {
  /** Bytes of the bodies of uploads. */
  readonly uploads: Shares;
  /** Bytes of JSON and form bodies. */
  readonly documents: Shares;
  /** Answers sent piece by piece. */
  readonly streams: Shares;
  readonly #options: AdmissionOptions;
  readonly #refused: Record<Bound, number> = { connections: 0, event_loop: 0 };
  readonly #connections: Int32Array;
  readonly #own: number;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const { connections = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), own = 0 } = options.threads ?? {};
    this.#connections = new Int32Array(connections);
    this.#own = own;
    const { inflightBytesMax, streamsMax } = options;
    this.uploads = shares(inflightBytesMax, 'too many uploads are running');
    this.documents = shares(inflightBytesMax, 'too many request bodies are being received');
    this.streams = shares(streamsMax, 'too many downloads are running');
  }

  get connectionsMax(): number {
    return this.#options.connectionsMax;
  }

  /** Connections of all threads. */
  get connections(): number {
    let all = 0;
    for (let thread = 0; thread < this.#connections.length; thread += 1) all += Atomics.load(this.#connections, thread);
    return all;
  }

  /** The counters to pass to another thread as `threads`. */
  get sharedConnections(): SharedArrayBuffer {
    return this.#connections.buffer as SharedArrayBuffer;
  }

  get refused(): Readonly<Record<Bound, number>> {
    return this.#refused;
  }

  /**
   * Counts a connection. Returns false when there are too many; it is still counted until it is closed. `isWelcome`
   * reports whether its address has few connections; called only in the last quarter.
   */
  connect(isWelcome: () => boolean): boolean {
    Atomics.add(this.#connections, this.#own, 1);
    const { connections } = this;
    const { connectionsMax } = this.#options;
    const isScarce = connections > connectionsMax * (1 - CONNECTIONS_KEPT);
    if (connections <= connectionsMax && (!isScarce || isWelcome())) return true;
    this.#refused.connections += 1;
    return false;
  }

  disconnect(): void {
    Atomics.sub(this.#connections, this.#own, 1);
  }

  /** Throws Refusal `overloaded` for new work while the event loop is late. */
  checkLoop(): void {
    const { loopDelayMsMax, loopDelayMs } = this.#options;
    if (loopDelayMsMax === 0 || loopDelayMs() <= loopDelayMsMax) return;
    throw this.#refuse('event_loop', 'the server is overloaded');
  }

  #refuse(bound: Bound, what: string): Refusal {
    this.#refused[bound] += 1;
    return new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.retryAfterSeconds });
  }
}

function shares(max: number, what: string): Shares {
  return new Shares({ max, what, retryAfterSeconds: limits.retryAfterSeconds });
}
