/**
 * Limits wrong tries to a maximum per window; then none is allowed until the first is older than the window. In memory,
 * bounded.
 */
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';

export interface WrongTriesOptions {
  readonly triesMax: number;
  readonly windowMs: number;
  readonly now: () => number;
}

export class WrongTries {
  readonly #options: WrongTriesOptions;
  /** Times of the wrong tries of each guesser, oldest first; at most `triesMax` each. */
  readonly #wrongMs = new Map<string, readonly number[]>();

  constructor(options: WrongTriesOptions) {
    this.#options = options;
  }

  /** Throws Refusal `rate_limited` when any of the guessers had too many wrong tries. */
  check(guessers: readonly string[]): void {
    const { triesMax, windowMs, now } = this.#options;
    for (const guesser of guessers) {
      const recent = this.#recent(guesser);
      const [first] = recent;
      if (recent.length < triesMax || first === undefined) continue;
      const retryAfterSeconds = Math.max(1, Math.ceil((first + windowMs - now()) / 1000));
      throw new Refusal({ kind: 'rate_limited', limit: triesMax, retryAfterSeconds });
    }
  }

  /** True when this guesser had too many wrong tries. */
  isOver(guesser: string): boolean {
    return this.#recent(guesser).length >= this.#options.triesMax;
  }

  /** Counts one wrong try against each of the guessers. */
  add(guessers: readonly string[]): void {
    for (const guesser of guessers) {
      const recent = [...this.#recent(guesser), this.#options.now()].slice(-this.#options.triesMax);
      // Deleted first, so that the map is ordered by last try and the oldest is dropped first.
      this.#wrongMs.delete(guesser);
      if (this.#wrongMs.size >= limits.rateCallersMax) {
        const oldest = this.#wrongMs.keys().next();
        if (!oldest.done) this.#wrongMs.delete(oldest.value);
      }
      this.#wrongMs.set(guesser, recent);
    }
  }

  #recent(guesser: string): readonly number[] {
    const oldestMs = this.#options.now() - this.#options.windowMs;
    return (this.#wrongMs.get(guesser) ?? []).filter((ms) => ms > oldestMs);
  }
}
