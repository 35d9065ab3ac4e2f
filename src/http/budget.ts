/** Owns how many body bytes may be in memory at once, over all requests that share it. */
import { Refusal } from '../fault.ts';
import { limits } from '../limits.ts';

export class InflightBudget {
  readonly #bytesMax: number;
  #bytes = 0;
  #refused = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that are taken now, how many can be, and how often more were asked for. */
  get state(): { readonly bytes: number; readonly bytesMax: number; readonly refused: number } {
    return { bytes: this.#bytes, bytesMax: this.#bytesMax, refused: this.#refused };
  }

  /** Takes `bytes` and returns how to give them back, once. Refuses with `overloaded`. */
  take(bytes: number): () => void {
    if (this.#bytes + bytes > this.#bytesMax) {
      this.#refused += 1;
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
