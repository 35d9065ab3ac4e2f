/**
 * Limits the rate of callers that are addresses in each of their networks: a wider network has a larger rate, which all
 * of its addresses share. Any other caller, e.g. a key, has the rate alone.
 */
import { type Network, networksOf } from '../../common/networks.ts';
import { RateLimiter, type RateRule, type RateState } from './gcra.ts';

interface Taken {
  /** Calls of different kinds are counted apart. */
  readonly kind?: string;
  readonly cost?: number;
  /** The cost of a retry. */
  readonly costAgain?: number;
}

export class NetworkLimiter {
  readonly #limiter: RateLimiter;

  /** `now`: a monotonic clock. */
  constructor(rule: RateRule, now: () => number) {
    this.#limiter = new RateLimiter(rule, now);
  }

  /** The largest cost that can ever be allowed. */
  get costMax(): number {
    return this.#limiter.costMax;
  }

  /**
   * Counts a cost against a caller and its networks, or against none when one of them refuses it. Returns the state of
   * the one that is nearest to its limit; undefined when the limit is off.
   */
  take(caller: string, { kind = '', cost = 1, costAgain = cost }: Taken = {}): RateState | undefined {
    const taken: Network[] = [];
    let nearest: RateState | undefined;
    for (const network of networksOf(caller)) {
      // In a network with a share of four, a call costs a quarter.
      const { name, share } = network;
      const state = this.#limiter.take(`${kind} ${name}`, cost / share, costAgain / share);
      if (state === undefined) return undefined;
      const scaled = { ...state, limit: state.limit * share, remaining: state.remaining * share };
      if (!state.allowed) {
        this.#giveBack(taken, kind, cost);
        return scaled;
      }
      taken.push(network);
      if (nearest === undefined || scaled.remaining < nearest.remaining) nearest = scaled;
    }
    return nearest;
  }

  /** Takes back a cost that was just allowed. */
  giveBack(caller: string, cost: number): void {
    this.#giveBack(networksOf(caller), '', cost);
  }

  #giveBack(networks: readonly Network[], kind: string, cost: number): void {
    for (const { name, share } of networks) this.#limiter.giveBack(`${kind} ${name}`, cost / share);
  }
}
