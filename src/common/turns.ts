/**
 * Bounds how long work blocks the event loop, and shares its time: requests, walks, searches and the items of batches
 * run in turns, one in each round of the loop. When more work is there than fits into a turn, it waits, and the callers
 * get equal time (`fair-time.ts`). Work that fits into the rest of a turn is never deferred. `turn-length.ts` says how
 * long a turn lasts. Deferred work that fits into one turn shares it. A caller that used less than all who wait
 * goes ahead at once, for one short turn of each round.
 */
import { FairCallers } from './fair/fair-callers.ts';
import { SHORT_TURN_MS, turnMsOf } from './fair/turn-length.ts';

/** Calls back in the next round of the event loop, after pending I/O was handled. */
type NextRound = (run: () => void) => void;

/** Calls back when the promises that can be settled now are settled: resumed work has then used its time. */
export function whenSettled(run: () => void): void {
  queueMicrotask(() => process.nextTick(run));
}

export class Turns {
  readonly #waiting = new FairCallers<() => void>();
  readonly #now: () => number;
  readonly #nextRound: NextRound;
  /** End of the turn of this round; undefined before any work in the round. */
  #endMs: number | undefined;
  /** The caller whose work runs, and since when. It is charged when the work of another begins or the round ends. */
  #runs: { readonly caller: string; readonly sinceMs: number; readonly isAhead: boolean } | undefined;
  /** Time of this round that went to callers who did not wait although the turn was over. */
  #aheadMs = 0;
  /** What runs after the events of this round. */
  #afterEvents: (() => void)[] = [];
  /** The caller that had work last, and when the one before it was another. */
  #last: string | undefined;
  #othersMs = Number.NEGATIVE_INFINITY;

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

  /**
   * Begins new work of a caller, an account or a network. Returns undefined when it may run now, which costs next to
   * nothing, else a promise of its turn.
   */
  enter(caller: string): Promise<void> | undefined {
    const nowMs = this.#now();
    if (this.#waiting.size > 0 || (this.#endMs !== undefined && nowMs >= this.#endMs)) {
      return this.#goesAhead(caller, nowMs) ? undefined : this.next(caller);
    }
    this.#meet(caller, nowMs);
    if (this.#endMs === undefined) this.#begin(nowMs);
    this.#run(caller, nowMs);
    return undefined;
  }

  /** Begins work of a caller that would be the next one anyway: the turn of this round lasts longer for it. */
  #goesAhead(caller: string, nowMs: number): boolean {
    this.#stop(nowMs);
    const leftMs = SHORT_TURN_MS - this.#aheadMs;
    if (leftMs <= 0 || !this.#waiting.isFirst(caller)) return false;
    this.#meet(caller, nowMs);
    this.#endMs = Math.max(this.#endMs ?? 0, nowMs + leftMs);
    const runs = { caller, sinceMs: nowMs, isAhead: true };
    this.#runs = runs;
    // Other events of this round follow, which are not its work.
    whenSettled(() => {
      if (this.#runs === runs) this.#stop(this.#now());
    });
    return true;
  }

  /**
   * Settles like work that ran elsewhere, such as on another thread, in a turn of its caller: what arrives at once is not
   * all continued in one round.
   */
  async resumed<T>(caller: string, elsewhere: Promise<T>): Promise<T> {
    const result = await elsewhere;
    const turn = this.enter(caller);
    if (turn !== undefined) await turn;
    return result;
  }

  /** Resolves when the caller has the next turn. */
  next(caller: string): Promise<void> {
    return new Promise((resolve) => this.push(caller, resolve));
  }

  /** Runs short work after the events of this round, before what waits for a turn. It must not throw. */
  afterEvents(run: () => void): void {
    this.#afterEvents.push(run);
    if (this.#endMs === undefined) this.#begin(this.#now());
  }

  /** Runs work in the next turn of the caller. It must not throw. */
  push(caller: string, work: () => void): void {
    this.#waiting.push(caller, work);
    if (caller !== this.#last) this.#meet(caller, this.#now());
    if (this.#endMs === undefined) this.#begin(this.#now());
  }

  #meet(caller: string, nowMs: number): void {
    if (caller === this.#last) return;
    if (this.#last !== undefined) this.#othersMs = nowMs;
    this.#last = caller;
  }

  #begin(nowMs: number): void {
    this.#endMs = nowMs + turnMsOf({ waits: this.#waiting.size > 0, othersMs: nowMs - this.#othersMs });
    this.#nextRound(() => {
      const handled = this.#afterEvents;
      if (handled.length > 0) this.#afterEvents = [];
      for (const run of handled) run();
      this.#endMs = undefined;
      this.#aheadMs = 0;
      if (this.#waiting.size === 0) {
        this.#runs = undefined;
        this.#waiting.forget();
        return;
      }
      const startMs = this.#now();
      this.#stop(startMs);
      this.#begin(startMs);
      this.#resume(startMs);
    });
  }

  /** Resumes deferred work, one after another, until the turn is over. */
  #resume(nowMs: number): void {
    const first = this.#waiting.next();
    if (first === undefined) return;
    this.#run(first.caller, nowMs);
    first.item();
    whenSettled(() => {
      const afterMs = this.#now();
      this.#stop(afterMs);
      if (this.#endMs !== undefined && afterMs < this.#endMs) this.#resume(afterMs);
    });
  }

  #run(caller: string, nowMs: number): void {
    this.#stop(nowMs);
    this.#runs = { caller, sinceMs: nowMs, isAhead: false };
  }

  /** Charges the caller whose work ran until now. */
  #stop(nowMs: number): void {
    if (this.#runs === undefined) return;
    const { caller, sinceMs, isAhead } = this.#runs;
    this.#waiting.charge(caller, nowMs - sinceMs);
    if (isAhead) this.#aheadMs += nowMs - sinceMs;
    this.#runs = undefined;
  }
}

/** The turns of this thread, which has one event loop. */
export const turns = new Turns();

/**
 * Runs work of the service itself, such as a text that is made once for all callers, in turns: a step is never divided.
 * Rejects with the error of a step.
 */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    if (turns.isOver) await turns.next('service');
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
