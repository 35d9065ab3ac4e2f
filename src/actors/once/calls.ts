/** Carries the idempotency key of a request to the decisions that the request makes. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { invalidField, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import { actOnPlan, type DecisionName, type OnceCall } from './once.ts';
import { onceResults, usedKeys } from './records.ts';

const calls = new AsyncLocalStorage<OnceCall>();

/** The request with a key that this code runs for; undefined: none. */
export function onceCall(): OnceCall | undefined {
  return calls.getStore();
}

/**
 * Reads what a request decides about, then acts on it; a repeat of the request with its key acts on what the first one
 * read. `plan` returns what v8 can serialize, and `act` makes all its decisions by `Actor.once`.
 */
export async function planOnce<P, T>(
  name: DecisionName,
  plan: () => Promise<P> | P,
  act: (plan: P) => Promise<T>,
): Promise<T> {
  const call = calls.getStore();
  return call === undefined ? await act(await plan()) : await actOnPlan(call, name, plan, act);
}

export interface OnceCallsOptions {
  readonly store: Pick<Store, 'get'>;
  readonly sealer: Pick<Sealer, 'keyedHash' | 'sealKept' | 'openKept'>;
  readonly now: () => number;
}

/** A request and the key that its client made for it. */
export interface KeyedRequest {
  readonly accountId: string;
  /** As sent. */
  readonly key: string;
  /** Where the key was sent, for refusals. */
  readonly field: string;
  /** All that makes the request what it is. Equal for a repeat, and for nothing else. */
  readonly request: readonly unknown[];
}

/** Header of a request that may be sent again (IETF draft of that name). */
export const KEY_HEADER = 'Idempotency-Key';

export const idempotencyKey = z
  .string()
  .min(1)
  .max(limits.idempotencyKeyCharsMax)
  .regex(/^[\x21-\x7e]*$/, 'must be of visible ASCII characters');

export class OnceCalls {
  readonly #options: OnceCallsOptions;
  /** Requests that run now, by account and key. */
  readonly #running = new Set<string>();

  constructor(options: OnceCallsOptions) {
    this.#options = options;
  }

  /**
   * Runs a request so that a repeat with its key decides nothing again. Throws Refusal `invalid_fields` for an unusable
   * key, `key_reused` when the key was used for another request, and `key_busy` while the same request runs.
   */
  async run<T>(asked: KeyedRequest, work: () => Promise<T> | T): Promise<T> {
    const call = this.#callOf(asked);
    const name = `${call.accountId} ${call.key}`;
    const used = this.#options.store.get(usedKeys, [call.accountId, call.key]);
    if (used !== undefined && used.request !== call.request) {
      throw new Refusal({ kind: 'key_reused', field: asked.field });
    }
    if (this.#running.has(name)) {
      throw new Refusal({ kind: 'key_busy', retryAfterSeconds: limits.retryAfterSeconds });
    }
    this.#running.add(name);
    try {
      return await calls.run(call, work);
    } finally {
      this.#running.delete(name);
      // On Node.js 20 and 22 every promise costs more while a context may be read.
      if (this.#running.size === 0) calls.disable();
    }
  }

  #callOf({ accountId, key: sent, field, request }: KeyedRequest): OnceCall {
    // The quotes of a structured field (RFC 9651) are no part of the key.
    const bare = sent.replace(/^"(.*)"$/, '$1');
    if (!idempotencyKey.safeParse(bare).success) {
      throw invalidField(field, `${field} must be 1 to ${limits.idempotencyKeyCharsMax} visible ASCII characters`);
    }
    const { sealer, store, now } = this.#options;
    const key = sealer.keyedHash('idempotency-key', `${accountId} ${bare}`);
    const purpose = (place: string) => `idempotency-result ${accountId} ${key} ${place}`;
    return {
      accountId,
      key,
      request: createHash('sha256').update(JSON.stringify(request)).digest('hex'),
      nowMs: now(),
      seal: (place, plain) => sealer.sealKept(purpose(place), plain),
      open: (place, sealed) => sealer.openKept(purpose(place), sealed),
      kept: (place) => store.get(onceResults, [accountId, key, place])?.sealed,
      taken: new Map(),
      plans: new Map(),
    };
  }
}
