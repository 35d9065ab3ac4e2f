/**
 * Limits the rate of each caller with GCRA (ITU-T I.371, the generic cell rate algorithm), one number per caller. The
 * state is in memory and bounded. Forgetting a caller after a whole quiet window does not change its limit.
 */

import { Arrivals } from './arrivals.ts';

/** Rate state reported to a caller with each counted answer. */
export interface RateState {
  readonly allowed: boolean;
  /** Calls allowed at once after a quiet time. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the full burst is available again. */
  readonly resetSeconds: number;
  /** Seconds until a refused call can be retried; 0 when it was allowed. */
  readonly retryAfterSeconds: number;
}

export interface RateRule {
  /** Sustained calls a minute; 0 turns the limit off. */
  readonly perMinute: number;
  readonly burst: number;
}

/** Tolerance, in calls: sums of fractions of a millisecond have rounding errors. */
const ROUNDING_CALLS = 0.01;

export class RateLimiter {
  readonly #burst: number;
  readonly #intervalMs: number;
  /** Theoretical arrival time of each caller, in the clock's milliseconds. */
  readonly #arrivals = new Arrivals();
  readonly #now: () => number;

  /** `now`: a monotonic clock. */
  constructor({ perMinute, burst }: RateRule, now: () => number) {
    this.#burst = burst;
    this.#intervalMs = perMinute === 0 ? 0 : 60_000 / perMinute;
    this.#now = now;
  }

  /** The largest cost that can ever be allowed. */
  get costMax(): number {
    return this.#intervalMs === 0 ? Number.POSITIVE_INFINITY : this.#burst;
  }

  /** Takes back a cost that was just allowed. */
  giveBack(caller: string, cost: number): void {
    if (this.#intervalMs > 0) this.#arrivals.change(caller, (moment) => moment - cost * this.#intervalMs);
  }

  /**
   * Counts `cost` calls of a caller. A refused cost is not counted. `costAgain`: the cost of a retry. Returns undefined
   * when the limit is off.
   */
  take(caller: string, cost = 1, costAgain = cost): RateState | undefined {
    if (this.#intervalMs === 0) return undefined;
    const nowMs = this.#now();
    const windowMs = this.#burst * this.#intervalMs;
    let arrival = nowMs;
    let allowed = false;
    this.#arrivals.change(caller, (moment) => {
      arrival = Math.max(moment, nowMs);
      allowed = arrival + cost * this.#intervalMs - nowMs <= windowMs + ROUNDING_CALLS * this.#intervalMs;
      return allowed ? arrival + cost * this.#intervalMs : undefined;
    });
    const next = arrival + cost * this.#intervalMs;
    const waitMs = allowed ? 0 : arrival + costAgain * this.#intervalMs - nowMs - windowMs;
    const heldMs = (allowed ? next : arrival) - nowMs;
    return {
      allowed,
      limit: this.#burst,
      remaining: Math.max(0, Math.floor((windowMs - heldMs) / this.#intervalMs + ROUNDING_CALLS)),
      resetSeconds: Math.ceil(heldMs / 1000),
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    };
  }
}
