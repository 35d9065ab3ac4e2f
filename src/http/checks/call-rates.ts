/**
 * Limits the calls of each key, and of each account: otherwise an account would multiply its limit by making keys. A
 * call counts for both or for neither. A caller without a key is its address, in each of its networks.
 */
import { limits } from '../../limits/service.ts';
import { RateLimiter, type RateState } from './gcra.ts';
import { NetworkLimiter } from './network-limiter.ts';

export interface CallRateSettings {
  /** Per key; 0: off. */
  readonly callsPerMinute: number;
  /** Per account, over all its keys, tokens and sessions; 0: off. */
  readonly accountCallsPerMinute: number;
}

/** Who makes a call. */
export interface CountedCaller {
  /** The key, token or session; the address block of a caller without a credential. */
  readonly credential: string;
  /** Undefined for a caller without a credential. */
  readonly accountId: string | undefined;
}

export class CallRates {
  readonly #ofKeys: NetworkLimiter;
  readonly #ofAccounts: RateLimiter;

  /** `now`: a monotonic clock. */
  constructor({ callsPerMinute, accountCallsPerMinute }: CallRateSettings, now: () => number) {
    this.#ofKeys = new NetworkLimiter(ruleOf(callsPerMinute), now);
    this.#ofAccounts = new RateLimiter(ruleOf(accountCallsPerMinute), now);
  }

  /** The largest cost that can ever be allowed. */
  get costMax(): number {
    return Math.min(this.#ofKeys.costMax, this.#ofAccounts.costMax);
  }

  /**
   * Counts `cost` calls. Returns the state of the limit that has less left, or the refusal of the one that was reached;
   * undefined when both limits are off. `costAgain`: the cost of a retry.
   */
  take({ credential, accountId }: CountedCaller, cost: number, costAgain: number): RateState | undefined {
    const ofKey = this.#ofKeys.take(credential, { cost, costAgain });
    if (accountId === undefined || ofKey?.allowed === false) return ofKey;
    const ofAccount = this.#ofAccounts.take(accountId, cost, costAgain);
    if (ofAccount === undefined) return ofKey;
    if (ofKey === undefined) return ofAccount;
    if (!ofAccount.allowed) this.#ofKeys.giveBack(credential, cost);
    return ofAccount.allowed && ofKey.remaining <= ofAccount.remaining ? ofKey : ofAccount;
  }
}

function ruleOf(perMinute: number) {
  return { perMinute, burst: Math.max(1, Math.round(perMinute * limits.callBurstShare)) };
}
