/**
 * How long an owner may answer without having heard from the log. The lease ends a fixed time after the start of its
 * newest append, by two clocks of its own machine: the monotonic one, and the wall clock, which also counts while a
 * machine sleeps. Whichever says more decides.
 */
import { readFileSync } from 'node:fs';

/** One moment, by every clock of this machine, in milliseconds. */
export interface ClockMoment {
  readonly monotonicMs: number;
  readonly wallMs: number;
  /** Since the machine booted, sleep included; undefined: the system does not say. */
  readonly bootMs: number | undefined;
}

export interface MemberClock {
  /** The clocks that cost nothing to read. */
  now(): ClockMoment;
  /** All clocks. */
  look(): ClockMoment;
}

export const systemClock: MemberClock = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now(), bootMs: undefined }),
  look: () => ({ monotonicMs: performance.now(), wallMs: Date.now(), bootMs: uptimeMs() }),
};

function uptimeMs(): number | undefined {
  try {
    return Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000;
  } catch {
    // Not Linux.
    return undefined;
  }
}

/** Milliseconds from one moment to another, by the clock that says most. */
function elapsedMs(from: ClockMoment, to: ClockMoment): number {
  const boot = from.bootMs === undefined || to.bootMs === undefined ? 0 : to.bootMs - from.bootMs;
  return Math.max(to.monotonicMs - from.monotonicMs, to.wallMs - from.wallMs, boot);
}

/**
 * Milliseconds in which a follower has heard nothing. Only the monotonic clock counts: a wall clock that is set ahead
 * must not end the lease of another, and what a follower slept through it did not listen to.
 */
export const heardNothingMs = (from: ClockMoment, to: ClockMoment): number => to.monotonicMs - from.monotonicMs;

export class MemberLease {
  readonly ms: number;
  readonly clock: MemberClock;
  #from: ClockMoment | undefined;
  #isOver = false;

  constructor(ms: number, clock: MemberClock = systemClock) {
    this.ms = ms;
    this.clock = clock;
  }

  /** Begins again at the start of an append that was written. */
  renew(from: ClockMoment): void {
    this.#from = from;
  }

  /** Ends for ever: this process serves nobody any more. */
  end(): void {
    this.#isOver = true;
  }

  /** Milliseconds since the start of the newest append, by all clocks. */
  silentMs(now: ClockMoment = this.clock.look()): number {
    return this.#from === undefined ? Number.POSITIVE_INFINITY : elapsedMs(this.#from, now);
  }

  get leftMs(): number {
    return this.#isOver ? 0 : Math.max(0, this.ms - this.silentMs(this.clock.now()));
  }

  get isValid(): boolean {
    return this.leftMs > 0;
  }
}
