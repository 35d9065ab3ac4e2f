/**
 * Owns how often a caller may call: GCRA (ITU-T I.371, the generic cell rate algorithm), one number per caller.
 * The state is in memory and bounded; forgetting a caller that was quiet for a whole window changes nothing for it.
 */

import { limits } from '../../limits/service.ts';

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
  readonly #arrivals = new Map<string, number>();
  readonly #now: () => number;

  constructor({ perMinute, burst }: RateRule, now: () => number) {
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
    const arrival = Math.max(this.#arrivals.get(caller) ?? 0, nowMs);
    const next = arrival + cost * this.#intervalMs;
    const allowed = next - nowMs <= windowMs + ROUNDING_CALLS * this.#intervalMs;
    const waitMs = allowed ? 0 : arrival + costAgain * this.#intervalMs - nowMs - windowMs;
    const heldMs = (allowed ? next : arrival) - nowMs;
    if (allowed) this.#remember(caller, next, nowMs);
    return {
      allowed,
      limit: this.#burst,
      remaining: Math.max(0, Math.floor((windowMs - heldMs) / this.#intervalMs + ROUNDING_CALLS)),
      resetSeconds: Math.ceil(heldMs / 1000),
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    };
  }

  #remember(caller: string, arrival: number, nowMs: number): void {
    // Above the bound those that have nothing to remember are dropped.
    if (this.#arrivals.size >= limits.rateCallersMax && !this.#arrivals.has(caller)) this.#forgetQuiet(nowMs);
    // Deleted first, so that the map's own order is by last call.
    this.#arrivals.delete(caller);
    this.#arrivals.set(caller, arrival);
  }

  /** Drops callers whose burst is whole again; when all are busy, the one that called longest ago. */
  #forgetQuiet(nowMs: number): void {
    for (const [caller, arrival] of this.#arrivals) if (arrival <= nowMs) this.#arrivals.delete(caller);
    const oldest = this.#arrivals.keys().next();
    if (this.#arrivals.size >= limits.rateCallersMax && !oldest.done) this.#arrivals.delete(oldest.value);
  }
}
