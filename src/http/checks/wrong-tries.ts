/**
 * Limits wrong tries to a maximum per window; then none is allowed until the first is older than the window. In memory,
 * bounded.
 */
import { Refusal } from '../../common/fault.ts';
import { type Network, networksOf } from '../../common/networks.ts';
import { limits } from '../../limits/service.ts';

export interface WrongTriesOptions {
  readonly triesMax: number;
  readonly windowMs: number;
  readonly now: () => number;
}

/** Who is counted: a name, or an address of a network that may have several times the tries. */
export type CountedGuesser = string | Network;

/** Returns the guessers to count for an address: each of its networks, under a name. */
export function guessersAt(address: string, name: string): readonly Network[] {
  return networksOf(address).map((network) => ({ ...network, name: `${name} ${network.name}` }));
}

export class WrongTries {
  readonly #options: WrongTriesOptions;
  /** Times of the wrong tries of each guesser, oldest first; at most `triesMax` times its share. */
  readonly #wrongMs = new Map<string, readonly number[]>();

  constructor(options: WrongTriesOptions) {
    this.#options = options;
  }

  /** Throws Refusal `rate_limited` when any of the guessers had too many wrong tries. */
  check(guessers: readonly CountedGuesser[]): void {
    const { windowMs, now } = this.#options;
    for (const guesser of guessers) {
      const { name, triesMax } = this.#counted(guesser);
      const recent = this.#recent(name);
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
  add(guessers: readonly CountedGuesser[]): void {
    for (const guesser of guessers) {
      const { name, triesMax } = this.#counted(guesser);
      const recent = [...this.#recent(name), this.#options.now()].slice(-triesMax);
      // Deleted first, so that the map is ordered by last try and the oldest is dropped first.
      this.#wrongMs.delete(name);
      if (this.#wrongMs.size >= limits.rateCallersMax) {
        const oldest = this.#wrongMs.keys().next();
        if (!oldest.done) this.#wrongMs.delete(oldest.value);
      }
      this.#wrongMs.set(name, recent);
    }
  }

  #counted(guesser: CountedGuesser): { readonly name: string; readonly triesMax: number } {
    const { name, share } = typeof guesser === 'string' ? { name: guesser, share: 1 } : guesser;
    return { name, triesMax: this.#options.triesMax * share };
  }

  #recent(guesser: string): readonly number[] {
    const oldestMs = this.#options.now() - this.#options.windowMs;
    return (this.#wrongMs.get(guesser) ?? []).filter((ms) => ms > oldestMs);
  }
}
