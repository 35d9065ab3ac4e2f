/**
 * Bounds how long work blocks the event loop: walks, searches and the items of batches run in turns, one in each round
 * of the loop, and callers take turns. Work that fits into the rest of a turn is never deferred. A turn lasts at most
 * 2 ms, and 0.5 ms after work was deferred: a request of somebody else takes several rounds, and waits for a turn in
 * each of them. Deferred work that fits into one turn shares it.
 */
import { FairQueue } from './fair-queue.ts';

const TURN_MS = 2;
const DEFERRED_TURN_MS = 0.5;

/** Calls back in the next round of the event loop, after pending I/O was handled. */
type NextRound = (run: () => void) => void;

/** Calls back when the promises that can be settled now are settled: resumed work has then used its time. */
function whenSettled(run: () => void): void {
  queueMicrotask(() => process.nextTick(run));
}

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
    this.#begin(nowMs, TURN_MS);
    return false;
  }

  /** Resolves when the caller, an account or an address, has the next turn. */
  next(caller: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(caller, resolve);
      if (this.#endMs === undefined) this.#begin(this.#now(), TURN_MS);
    });
  }

  #begin(nowMs: number, turnMs: number): void {
    this.#endMs = nowMs + turnMs;
    this.#nextRound(() => {
      this.#endMs = undefined;
      if (this.#waiting.size === 0) return;
      this.#begin(this.#now(), DEFERRED_TURN_MS);
      this.#resume();
    });
  }

  /** Resumes deferred work, one after another, until the turn is over. */
  #resume(): void {
    const first = this.#waiting.shift();
    if (first === undefined) return;
    first();
    whenSettled(() => {
      if (this.#endMs !== undefined && this.#now() < this.#endMs) this.#resume();
    });
  }
}

/** The turns of this thread, which has one event loop. */
export const turns = new Turns();
