/**
 * Decides which job of the pool runs next, and on which thread. A thread runs its jobs in order, and a job cannot be
 * interrupted. So jobs are short or long, and the first thread runs no long ones, unless it is the only one: a short job
 * waits for short ones only, whatever others compare, render or hash. Within either, three kinds of callers take turns:
 * those with an account, newcomers who sign up, and other strangers, who sign in; within a kind the callers divide the
 * time. Pure.
 */
import { FairCallers } from '../common/fair/fair-callers.ts';
import { widestNetwork } from '../common/networks.ts';
import type { Caller } from '../common/shares.ts';

/** What is known of a job before it runs. */
export interface JobKind {
  readonly caller: Caller;
  readonly isLong: boolean;
  readonly isOfNewcomer: boolean;
}

/** Called with the number of the thread on which a job is to start now. */
type Start = (thread: number) => void;

/** A second short job waits in the thread, so that it does not idle until its next message arrives. */
const SHORT_AT_ONCE = 2;

interface Thread {
  short: number;
  long: number;
}

export class JobTurns {
  readonly #threads: Thread[];
  readonly #short = new WaitingJobs();
  readonly #long = new WaitingJobs();
  #longIsNext = true;

  constructor(threads: number) {
    this.#threads = Array.from({ length: threads }, () => ({ short: 0, long: 0 }));
  }

  get waiting(): number {
    return this.#short.size + this.#long.size;
  }

  /** Starts a job now or later. When it has ended, `leave` must be called once. */
  enter(job: JobKind, start: Start): void {
    this.#waitingLike(job).push(job, start);
    this.#startAll();
  }

  /** Ends a job that ran on a thread for some time, and starts the next. */
  leave(job: JobKind, thread: number, ms: number): void {
    const left = this.#threads[thread];
    if (left === undefined) throw new Error(`there is no thread ${thread}`);
    if (job.isLong) left.long -= 1;
    else left.short -= 1;
    this.#waitingLike(job).charge(job, ms);
    this.#startAll();
  }

  #waitingLike({ isLong }: JobKind): WaitingJobs {
    return isLong ? this.#long : this.#short;
  }

  /** Short and long jobs take turns where a thread could run either. */
  #startAll(): void {
    while (this.#startOne(this.#longIsNext) || this.#startOne(!this.#longIsNext));
  }

  #startOne(isLong: boolean): boolean {
    const waiting = isLong ? this.#long : this.#short;
    if (waiting.size === 0) return false;
    const at = this.#freest(isLong);
    const thread = this.#threads[at];
    if (thread === undefined) return false;
    if (isLong) thread.long += 1;
    else thread.short += 1;
    this.#longIsNext = !isLong;
    waiting.shift()?.(at);
    return true;
  }

  /** Returns the thread with the fewest jobs among those that may run such a job; -1: none. */
  #freest(isLong: boolean): number {
    let best = -1;
    for (const [at, { short, long }] of this.#threads.entries()) {
      const isKept = isLong && at === 0 && this.#threads.length > 1;
      if (isKept || long > 0 || short >= SHORT_AT_ONCE) continue;
      if (best < 0 || short < (this.#threads[best]?.short ?? 0)) best = at;
    }
    return best;
  }
}

/** The waiting jobs of one length. */
class WaitingJobs {
  readonly #known = new FairCallers<Start>();
  readonly #newcomers = new FairCallers<Start>();
  readonly #strangers = new FairCallers<Start>();
  /** In the order of turns. */
  #kinds = [this.#known, this.#strangers, this.#newcomers];

  get size(): number {
    return this.#kinds.reduce((sum, { size }) => sum + size, 0);
  }

  push(job: JobKind, start: Start): void {
    this.#kindOf(job).push(turnNameOf(job.caller), start);
  }

  shift(): Start | undefined {
    const served = this.#kinds.find(({ size }) => size > 0);
    if (served === undefined) return undefined;
    this.#kinds = [...this.#kinds.filter((kind) => kind !== served), served];
    return served.next()?.item;
  }

  charge(job: JobKind, ms: number): void {
    if (this.size === 0) for (const kind of this.#kinds) kind.forget();
    else this.#kindOf(job).charge(turnNameOf(job.caller), ms);
  }

  #kindOf({ caller: { accountId, address }, isOfNewcomer }: JobKind): FairCallers<Start> {
    if (accountId !== undefined || address === undefined) return this.#known;
    return isOfNewcomer ? this.#newcomers : this.#strangers;
  }
}

/** Callers take turns by account, strangers by their widest network. The service itself is one of the known callers. */
export function turnNameOf({ accountId, address }: Caller): string {
  return accountId ?? (address === undefined ? 'service' : widestNetwork(address));
}
