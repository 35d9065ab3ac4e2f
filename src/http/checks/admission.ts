/**
 * Owns the bounds of the front door as a whole: connections, answers that are streamed, bytes of documents that are read,
 * and how late the event loop may be. What comes above a bound is told to come again, before it costs anything.
 */
import { Refusal } from '../../common/fault.ts';
import { Shares } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';

export interface AdmissionOptions {
  readonly connectionsMax: number;
  readonly streamsMax: number;
  /** Bytes of uploads that are in memory at once, and again of JSON and form bodies. */
  readonly inflightBytesMax: number;
  /** 0: not looked at. */
  readonly loopDelayMsMax: number;
  readonly loopDelayMs: () => number;
  /** One cell a thread, when threads count connections together, and which is this one's. */
  readonly threads?: { readonly connections: SharedArrayBuffer; readonly own: number };
}

/** Paths that are answered while the service drains or has too much to do: probes ask just then. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

/** What is refused at its bound. */
export type Bound = 'connections' | 'event_loop';

/** The part of the connections that is kept for addresses that hold little. */
const CONNECTIONS_KEPT = 1 / 4;

export class Admission {
  /** Bytes of the bodies of uploads. */
  readonly uploads: Shares;
  /** Bytes of JSON and form bodies. */
  readonly documents: Shares;
  /** Answers that are sent piece by piece. */
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
    this.uploads = shares(inflightBytesMax, 'too many uploads are in flight');
    this.documents = shares(inflightBytesMax, 'too many request bodies are in flight');
    this.streams = shares(streamsMax, 'too many downloads are running');
  }

  get connectionsMax(): number {
    return this.#options.connectionsMax;
  }

  /** Of all threads. */
  get connections(): number {
    let all = 0;
    for (let thread = 0; thread < this.#connections.length; thread += 1) all += Atomics.load(this.#connections, thread);
    return all;
  }

  /** What another thread is given as `threads`. */
  get sharedConnections(): SharedArrayBuffer {
    return this.#connections.buffer as SharedArrayBuffer;
  }

  get refused(): Readonly<Record<Bound, number>> {
    return this.#refused;
  }

  /**
   * Counts a connection; false when there are too many with it. It is counted all the same, until it is closed.
   * `isWelcome` tells of the last quarter whether its address holds little; it is not asked before.
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

  /** Refuses new work while the event loop is late with the work that it has. */
  checkLoop(): void {
    const { loopDelayMsMax, loopDelayMs } = this.#options;
    if (loopDelayMsMax === 0 || loopDelayMs() <= loopDelayMsMax) return;
    throw this.#refuse('event_loop', 'the server is late with the work that it has');
  }

  #refuse(bound: Bound, what: string): Refusal {
    this.#refused[bound] += 1;
    return new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.retryAfterSeconds });
  }
}

function shares(max: number, what: string): Shares {
  return new Shares({ max, what, retryAfterSeconds: limits.retryAfterSeconds });
}
