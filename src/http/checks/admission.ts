/**
 * Bounds the load of the whole front door: connections, streamed answers, bytes of documents being read, and the delay
 * of the event loop. Work above a bound is refused with a request to retry, before it costs anything.
 */
import { Refusal } from '../../common/fault.ts';
import { OwnTally, Shares, type Tally } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';
import { SharedCells } from './shared-cells.ts';

export interface AdmissionOptions {
  readonly connectionsMax: number;
  readonly streamsMax: number;
  /** Maximum bytes of uploads in memory, and separately of JSON and form bodies. */
  readonly inflightBytesMax: number;
  /** 0: no check. */
  readonly loopDelayMsMax: number;
  readonly loopDelayMs: () => number;
  /** Set when threads count together, so that the bounds are those of all: their cells, and this thread's index. */
  readonly threads?: { readonly cells: SharedCells; readonly own: number };
}

/** What threads hold together. */
const HELD = ['connections', 'uploads', 'documents', 'streams'] as const;
/** Bounds whose refusals they count together. */
const BOUNDS = [...HELD, 'event_loop'] as const;

/** Cells for this number of threads; `shared`: the cells of another thread. */
export function admissionCells(threads: number, shared?: SharedArrayBuffer): SharedCells {
  return new SharedCells(threads, { held: HELD.length, counted: BOUNDS.length }, shared);
}

/** Paths that are answered even while the service drains or is overloaded, when probes matter most. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

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
  readonly #connections: Tally;
  readonly #connectionsRefused: Tally;
  readonly #lateRefused: Tally;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const { inflightBytesMax, streamsMax, threads } = options;
    const tallyAt = (row: number): Tally => threads?.cells.tally(row, threads.own) ?? new OwnTally();
    const heldOf = (what: (typeof HELD)[number]) => tallyAt(HELD.indexOf(what));
    const refusalsOf = (bound: (typeof BOUNDS)[number]) => tallyAt(HELD.length + BOUNDS.indexOf(bound));
    const shares = (row: (typeof HELD)[number], max: number, what: string) => {
      const { retryAfterSeconds } = limits;
      return new Shares({ max, what, retryAfterSeconds, tally: heldOf(row), refusals: refusalsOf(row) });
    };
    this.#connections = heldOf('connections');
    this.#connectionsRefused = refusalsOf('connections');
    this.#lateRefused = refusalsOf('event_loop');
    this.uploads = shares('uploads', inflightBytesMax, 'too many uploads are running');
    this.documents = shares('documents', inflightBytesMax, 'too many request bodies are being received');
    this.streams = shares('streams', streamsMax, 'too many downloads are running');
  }

  get connectionsMax(): number {
    return this.#options.connectionsMax;
  }

  /** Connections of all threads. */
  get connections(): number {
    return this.#connections.total;
  }

  /** Threads that count together. */
  get threads(): number {
    return this.cells?.threads ?? 1;
  }

  /** What all threads hold; undefined for a single one. */
  get cells(): SharedCells | undefined {
    return this.#options.threads?.cells;
  }

  /** Refusals of all threads, by bound. */
  get refused(): Readonly<Record<(typeof BOUNDS)[number], number>> {
    return {
      connections: this.#connectionsRefused.total,
      event_loop: this.#lateRefused.total,
      uploads: this.uploads.state.refused,
      documents: this.documents.state.refused,
      streams: this.streams.state.refused,
    };
  }

  /**
   * Counts a connection. Returns false when there are too many; it is still counted until it is closed. `isWelcome`
   * reports whether its address has few connections; called only in the last quarter.
   */
  connect(isWelcome: () => boolean): boolean {
    this.#connections.add(1);
    const { connections } = this;
    const { connectionsMax } = this.#options;
    const isScarce = connections > connectionsMax * (1 - CONNECTIONS_KEPT);
    if (connections <= connectionsMax && (!isScarce || isWelcome())) return true;
    this.#connectionsRefused.add(1);
    return false;
  }

  disconnect(): void {
    this.#connections.add(-1);
  }

  /** Throws Refusal `overloaded` for new work while the event loop is late. */
  checkLoop(): void {
    const { loopDelayMsMax, loopDelayMs } = this.#options;
    if (loopDelayMsMax === 0 || loopDelayMs() <= loopDelayMsMax) return;
    this.#lateRefused.add(1);
    const { retryAfterSeconds } = limits;
    throw new Refusal({ kind: 'overloaded', what: 'the server is overloaded', retryAfterSeconds });
  }
}
