/**
 * Owns how long work may hold the event loop: walks, searches and the items of batches run in turns of at most 2 ms, one in
 * each round of the loop, and turns go round the callers. Work that fits into what is left of a round is never put off.
 */
import { FairQueue } from './fair-queue.ts';

const TURN_MS = 2;

/** Calls back in the next round of the event loop, when what came in from outside has been seen to. */
type NextRound = (run: () => void) => void;

export class Turns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #now: () => number;
  readonly #nextRound: NextRound;
  /** When the turn of this round is over; undefined: nothing has run in it yet. */
  #endMs: number | undefined;

  constructor(now: () => number = () => performance.now(), nextRound: NextRound = (run) => void setImmediate(run)) {
    this.#now = now;
    this.#nextRound = nextRound;
  }

  /** Work that waits for a turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether the turn of this round is over: then whatever can wait does. Cheap enough to be asked for each row. */
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
