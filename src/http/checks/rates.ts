/** Enforces the rate limits of the front door: calls per key and account, and failed credentials per address. */
import { Refusal } from '../../common/fault.ts';
import { NO_HEADERS, type ReplyHeaders } from '../reply/reply.ts';
import { type CallRateSettings, CallRates, type CountedCaller } from './call-rates.ts';
import type { RateState } from './gcra.ts';
import { NetworkLimiter } from './network-limiter.ts';

export interface RateSettings extends CallRateSettings {
  /** 0: off. */
  readonly signInsPerMinute: number;
}

export class Rates {
  /** Refusals of each limit since the start. */
  readonly refused = { calls: 0, signIns: 0 };
  readonly #calls: CallRates;
  readonly #signIns: NetworkLimiter;

  constructor({ signInsPerMinute, ...calls }: RateSettings, now: () => number) {
    this.#calls = new CallRates(calls, now);
    this.#signIns = new NetworkLimiter({ perMinute: signInsPerMinute, burst: signInsPerMinute }, now);
  }

  /** Calls that a caller can make at once. */
  get callsAtOnceMax(): number {
    return this.#calls.costMax;
  }

  /** Counts a call and returns the rate headers of the answer. Throws Refusal `rate_limited`. */
  count(caller: CountedCaller): ReplyHeaders {
    return this.#take(caller, 1, 1);
  }

  /** Counts further calls of a request already counted as one; a retry costs all of them. */
  countMore(caller: CountedCaller, calls: number): ReplyHeaders {
    return this.#take(caller, calls, calls + 1);
  }

  #take(caller: CountedCaller, calls: number, callsAgain: number): ReplyHeaders {
    const state = this.#calls.take(caller, calls, callsAgain);
    if (state === undefined) return NO_HEADERS;
    if (!state.allowed) {
      this.refused.calls += 1;
      throw refusal(state);
    }
    return {
      'X-RateLimit-Limit': String(state.limit),
      'X-RateLimit-Remaining': String(state.remaining),
      'X-RateLimit-Reset': String(state.resetSeconds),
    };
  }

  /** Counts a refused credential. Throws Refusal `rate_limited` after too many from this address. */
  countFailure(address: string): void {
    this.countSignIn('failed', address);
  }

  /** Counts an attempt of a kind by its address; an IPv6 address counts in its networks. Throws Refusal `rate_limited`. */
  countSignIn(kind: 'address' | 'device' | 'failed', address: string): void {
    const state = this.#signIns.take(address, { kind });
    if (state === undefined || state.allowed) return;
    this.refused.signIns += 1;
    throw refusal(state);
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
