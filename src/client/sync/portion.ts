/** Owns how much goes over the line in one request, so that what is small soon has its turn on a slow line too. */
import { limits } from '../../limits/service.ts';

interface Bounds {
  /** Of the first request, when nothing is known of the line. */
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

  /** Learns how fast the line is from a transfer that took `ms`. */
  measure(amount: number, ms: number): void {
    const { min, max } = this.#bounds;
    // A small transfer tells of the hub's work rather than of the line.
    if (amount < min) return;
    const next = (amount / Math.max(1, ms)) * limits.clientPortionMs;
    this.#size = Math.min(max, Math.max(min, Math.round(next)));
  }
}
