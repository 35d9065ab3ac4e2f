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
  #connections = 0;
  #connectionsRefused = 0;
  #lateRefused = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const { inflightBytesMax, streamsMax } = options;
    const { retryAfterSeconds } = limits;
    const shares = (max: number, what: string) => new Shares({ max, what, retryAfterSeconds });
    this.uploads = shares(inflightBytesMax, 'too many uploads are running');
    this.documents = shares(inflightBytesMax, 'too many request bodies are being received');
    this.streams = shares(streamsMax, 'too many downloads are running');
  }

  get connectionsMax(): number {
    return this.#options.connectionsMax;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Refusals by bound. */
  get refused() {
    return {
      connections: this.#connectionsRefused,
      event_loop: this.#lateRefused,
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
    this.#connections += 1;
    const { connectionsMax } = this.#options;
    const isScarce = this.#connections > connectionsMax * (1 - CONNECTIONS_KEPT);
    if (this.#connections <= connectionsMax && (!isScarce || isWelcome())) return true;
    this.#connectionsRefused += 1;
    return false;
  }

  disconnect(): void {
    this.#connections -= 1;
  }

  /** Throws Refusal `overloaded` for new work while the event loop is late. */
  checkLoop(): void {
    const { loopDelayMsMax, loopDelayMs } = this.#options;
    if (loopDelayMsMax === 0 || loopDelayMs() <= loopDelayMsMax) return;
    this.#lateRefused += 1;
    const { retryAfterSeconds } = limits;
    throw new Refusal({ kind: 'overloaded', what: 'the server is overloaded', retryAfterSeconds });
  }
}
