/** Adapts the amount per request to the connection speed, so that small changes never wait long for a turn. */
import { limits } from '../../limits/service.ts';

interface Bounds {
  /** Amount of the first request, before the speed is known. */
  readonly first: number;
  readonly min: number;
  readonly max: number;
}

export class Portion {
  readonly #bounds: Bounds;
  #size: number;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#size = bounds.first;
  }

  get size(): number {
    return this.#size;
  }

  /** Adapts the size after a transfer that took `ms` milliseconds. */
  measure(amount: number, ms: number): void {
    const { min, max } = this.#bounds;
    // The time of a small transfer reflects the hub's work rather than the connection.
    if (amount < min) return;
    const next = (amount / Math.max(1, ms)) * limits.clientPortionMs;
    this.#size = Math.min(max, Math.max(min, Math.round(next)));
  }
}
