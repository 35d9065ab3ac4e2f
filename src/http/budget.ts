/** Owns how many body bytes may be in memory at once, over all requests that share it. */
import { Refusal } from '../fault.ts';
import { limits } from '../limits.ts';

export class InflightBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes `bytes` and returns how to give them back, once. Refuses with `overloaded`. */
  take(bytes: number): () => void {
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new Refusal({
        kind: 'overloaded',
        what: 'too many uploads are in flight',
        retryAfterSeconds: limits.retryAfterSeconds,
      });
    }
    this.#bytes += bytes;
    let taken = true;
    return () => {
      if (taken) this.#bytes -= bytes;
      taken = false;
    };
  }
}
