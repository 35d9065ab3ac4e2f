/**
 * Bounds how long work blocks the event loop: walks, searches and the items of batches run in turns of at most 2 ms,
 * one in each round of the loop, and callers take turns. Work that fits into the rest of a round is never deferred.
 */
import { FairQueue } from './fair-queue.ts';

const TURN_MS = 2;

/** Calls back in the next round of the event loop, after pending I/O was handled. */
type NextRound = (run: () => void) => void;

export class Turns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #now: () => number;
  readonly #nextRound: NextRound;
  /** End of the turn of this round; undefined before any work in the round. */
  #endMs: number | undefined;

  constructor(now: () => number = () => performance.now(), nextRound: NextRound = (run) => void setImmediate(run)) {
    this.#now = now;
    this.#nextRound = nextRound;
  }

  /** Number of waiting turns. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * True when the turn of this round is over: work that can wait should then wait. Cheap enough to call for each row.
   */
  get isOver(): boolean {
    const nowMs = this.#now();
    if (this.#endMs !== undefined) return nowMs >= this.#endMs;
    this.#begin(nowMs);
    return false;
  }

  /** Resolves when the caller, an account or an address, has the next turn. */
  next(caller: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(caller, resolve);
      if (this.#endMs === undefined) this.#begin(this.#now());
    });
  }

  #begin(nowMs: number): void {
    this.#endMs = nowMs + TURN_MS;
    this.#nextRound(() => {
      this.#endMs = undefined;
      const first = this.#waiting.shift();
      if (first === undefined) return;
      this.#begin(this.#now());
      first();
    });
  }
}

/** The turns of this thread, which has one event loop. */
export const turns = new Turns();
