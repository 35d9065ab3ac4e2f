/** Owns the rate limits of the front door: calls per caller, and failed credentials per address. */
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { NO_HEADERS, type ReplyHeaders } from '../reply/reply.ts';
import { Arrivals } from './arrivals.ts';
import { RateLimiter, type RateState } from './gcra.ts';

export interface RateSettings {
  /** 0: off. */
  readonly callsPerMinute: number;
  /** 0: off. */
  readonly signInsPerMinute: number;
}

/** What threads share to count the same callers. */
export interface SharedRates {
  readonly calls: SharedArrayBuffer;
  readonly signIns: SharedArrayBuffer;
}

export class Rates {
  readonly shared: SharedRates;
  readonly #calls: RateLimiter;
  readonly #signIns: RateLimiter;
  #callsRefused = 0;
  #signInsRefused = 0;

  /** `shared`: of the `Rates` of another thread, which counts the same callers. */
  constructor({ callsPerMinute, signInsPerMinute }: RateSettings, now: () => number, shared?: SharedRates) {
    const burst = Math.max(1, Math.round(callsPerMinute * limits.callBurstShare));
    const calls = new Arrivals(shared?.calls);
    const signIns = new Arrivals(shared?.signIns);
    this.shared = { calls: calls.shared, signIns: signIns.shared };
    this.#calls = new RateLimiter({ perMinute: callsPerMinute, burst }, now, calls);
    this.#signIns = new RateLimiter({ perMinute: signInsPerMinute, burst: signInsPerMinute }, now, signIns);
  }

  /** Calls that a caller can make at once. */
  get callsAtOnceMax(): number {
    return this.#calls.costMax;
  }

  /** Counts a call and gives the headers that tell the caller. Throws Refusal `rate_limited`. */
  count(caller: string): ReplyHeaders {
    return this.#take(caller, 1, 1);
  }

  /** Counts further calls of a request that was counted for one; to be tried again it needs all of them. */
  countMore(caller: string, calls: number): ReplyHeaders {
    return this.#take(caller, calls, calls + 1);
  }

  #take(caller: string, calls: number, callsAgain: number): ReplyHeaders {
    const state = this.#calls.take(caller, calls, callsAgain);
    if (state === undefined) return NO_HEADERS;
    if (!state.allowed) {
      this.#callsRefused += 1;
      throw refusal(state);
    }
    return {
      'X-RateLimit-Limit': String(state.limit),
      'X-RateLimit-Remaining': String(state.remaining),
      'X-RateLimit-Reset': String(state.resetSeconds),
    };
  }

  /** Counts a credential that was refused. Throws Refusal `rate_limited` when there were too many from this address. */
  countFailure(address: string): void {
    this.countSignIn(`failed ${address}`);
  }

  /** Counts a try to sign in, by address or by email. Throws Refusal `rate_limited`. */
  countSignIn(who: string): void {
    const state = this.#signIns.take(who);
    if (state === undefined || state.allowed) return;
    this.#signInsRefused += 1;
    throw refusal(state);
  }

  /** How often each limit was hit since the start. */
  get refused(): { readonly calls: number; readonly signIns: number } {
    return { calls: this.#callsRefused, signIns: this.#signInsRefused };
  }
}

function refusal(state: RateState): Refusal {
  return new Refusal({
    kind: 'rate_limited',
    limit: state.limit,
    remaining: state.remaining,
    retryAfterSeconds: Math.max(1, state.retryAfterSeconds),
  });
}
