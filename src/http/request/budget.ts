/** Owns how many body bytes may be in memory at once, over all requests that share it. */
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';

export class InflightBudget {
  readonly #bytesMax: number;
  readonly #what: string;
  #bytes = 0;
  #refused = 0;

  /** `what`: how a refusal says what there is too much of. */
  constructor(bytesMax: number, what = 'too many uploads are in flight') {
    this.#bytesMax = bytesMax;
    this.#what = what;
  }

  /** Bytes that are taken now, how many can be, and how often more were asked for. */
  get state(): { readonly bytes: number; readonly bytesMax: number; readonly refused: number } {
    return { bytes: this.#bytes, bytesMax: this.#bytesMax, refused: this.#refused };
  }

  /** Takes `bytes` and returns how to give them back, once. Refuses with `overloaded`. */
  take(bytes: number): () => void {
    const lease = this.lease(bytes);
    return () => lease.release();
  }

  /** As `take`, for a size that is not known yet: it can grow. */
  lease(bytes: number): ByteLease {
    this.#take(bytes);
    let held = bytes;
    return {
      reach: (total) => {
        if (total <= held) return;
        this.#take(total - held);
        held = total;
      },
      release: () => {
        this.#bytes -= held;
        held = 0;
      },
    };
  }

  #take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) {
      this.#refused += 1;
      throw new Refusal({ kind: 'overloaded', what: this.#what, retryAfterSeconds: limits.retryAfterSeconds });
    }
    this.#bytes += bytes;
  }
}

/** A part of the budget. */
export interface ByteLease {
  /** Makes it hold at least this many bytes. Refuses with `overloaded`, and then holds what it held. */
  reach(bytesTotal: number): void;
  /** Gives all of it back; a second time does nothing. */
  release(): void;
}
