/**
 * Owns the bounds of the front door as a whole: connections, answers that are streamed, bytes of documents that are read,
 * and how late the event loop may be. What comes above a bound is told to come again, before it costs anything.
 */
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { InflightBudget } from '../request/budget.ts';

export interface AdmissionOptions {
  readonly connectionsMax: number;
  readonly streamsMax: number;
  /** Bytes of JSON and form bodies that are in memory at once. */
  readonly documentBytesMax: number;
  /** 0: not looked at. */
  readonly loopDelayMsMax: number;
  readonly loopDelayMs: () => number;
}

/** What is refused at its bound. */
export type Bound = 'connections' | 'streams' | 'event_loop';

export class Admission {
  readonly documents: InflightBudget;
  readonly #options: AdmissionOptions;
  readonly #refused: Record<Bound, number> = { connections: 0, streams: 0, event_loop: 0 };
  #connections = 0;
  #streams = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.documents = new InflightBudget(options.documentBytesMax, 'too many request bodies are in flight');
  }

  get connections(): number {
    return this.#connections;
  }

  get streams(): number {
    return this.#streams;
  }

  get refused(): Readonly<Record<Bound, number>> {
    return this.#refused;
  }

  /** Counts a connection; false when there are too many with it. It is counted all the same, until it is closed. */
  connect(): boolean {
    this.#connections += 1;
    if (this.#connections <= this.#options.connectionsMax) return true;
    this.#refused.connections += 1;
    return false;
  }

  disconnect(): void {
    this.#connections -= 1;
  }

  /** Refuses new work while the event loop is late with the work that it has. */
  checkLoop(): void {
    const { loopDelayMsMax, loopDelayMs } = this.#options;
    if (loopDelayMsMax === 0 || loopDelayMs() <= loopDelayMsMax) return;
    throw this.#refuse('event_loop', 'the server is late with the work that it has');
  }

  /** Takes a stream and gives how to let go of it. Refuses when too many readers are served already. */
  openStream(): () => void {
    if (this.#streams >= this.#options.streamsMax) throw this.#refuse('streams', 'too many downloads run');
    this.#streams += 1;
    return () => {
      this.#streams -= 1;
    };
  }

  #refuse(bound: Bound, what: string): Refusal {
    this.#refused[bound] += 1;
    return new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.retryAfterSeconds });
  }
}
