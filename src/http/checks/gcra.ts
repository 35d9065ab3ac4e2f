/**
 * Owns how often a caller may call: GCRA (ITU-T I.371, the generic cell rate algorithm), one number per caller.
 * The state is in memory and bounded; forgetting a caller that was quiet for a whole window changes nothing for it.
 */

import { Arrivals } from './arrivals.ts';

/** What a caller is told on each counted answer. */
export interface RateState {
  readonly allowed: boolean;
  /** Calls that may come at once when the caller has been quiet. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the full burst is back. */
  readonly resetSeconds: number;
  /** Seconds until what was refused can be tried again; 0 when it was not. */
  readonly retryAfterSeconds: number;
}

export interface RateRule {
  /** Sustained calls a minute; 0 turns the limit off. */
  readonly perMinute: number;
  readonly burst: number;
}

/** Sums of fractions of a millisecond round; what is missing by less than this part of a call is not missing. */
const ROUNDING_CALLS = 0.01;

export class RateLimiter {
  readonly #burst: number;
  readonly #intervalMs: number;
  /** Theoretical arrival time of each caller, in the clock's milliseconds. */
  readonly #arrivals: Arrivals;
  readonly #now: () => number;

  /** `now`: a clock that never goes back, the same for all threads that share `arrivals`. */
  constructor({ perMinute, burst }: RateRule, now: () => number, arrivals = new Arrivals()) {
    this.#arrivals = arrivals;
    this.#burst = burst;
    this.#intervalMs = perMinute === 0 ? 0 : 60_000 / perMinute;
    this.#now = now;
  }

  /** The greatest cost that can ever be allowed. */
  get costMax(): number {
    return this.#intervalMs === 0 ? Number.POSITIVE_INFINITY : this.#burst;
  }

  /**
   * Counts `cost` calls of a caller; a refused cost is not counted. `costAgain`: what trying it again will cost.
   * Undefined when the limit is off.
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
