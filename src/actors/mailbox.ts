/**
 * Orders the writes of one actor: a bounded first-in-first-out mailbox of decisions.
 *
 * A decision is passed to the store at once and in order, so that many share one durable commit. Its slot in the
 * mailbox is free again when that commit is on disk. An actor keeps no state between decisions: each one reads its rows
 * inside the transaction, so a failed commit leaves nothing to repair. All mailboxes share one limit, and no caller can
 * use all of it: an account has one mailbox for itself and one for each of its vaults.
 */
import { Refusal } from '../common/fault.ts';
import type { Caller, Shares } from '../common/shares.ts';
import { limits } from '../limits/service.ts';
import type { Decision } from '../store/group-commit.ts';
import type { Writer } from '../store/owners.ts';
import type { Store } from '../store/store.ts';
import { onceCall } from './once/calls.ts';
import { type DecisionName, decidedOnce } from './once/once.ts';

export class Actor {
  readonly writer: Writer;
  readonly #store: Store;
  readonly #waiting: Shares;
  readonly #owner: Caller;
  readonly #depthMax: number;
  #depth = 0;
  #idleSinceMs = Date.now();
  #whenIdle: (() => void)[] = [];
  #refusal: Refusal | undefined;

  /** `waiting`: shared limit of all mailboxes. */
  constructor(writer: Writer, store: Store, waiting: Shares, depthMax: number = limits.mailboxDepthMax) {
    this.writer = writer;
    this.#store = store;
    this.#waiting = waiting;
    this.#owner = writer.kind === 'account' ? { accountId: writer.id } : {};
    this.#depthMax = depthMax;
  }

  /** Number of decisions accepted but not yet durable. */
  get depth(): number {
    return this.#depth;
  }

  /** Time the mailbox last became empty, in milliseconds since the epoch. Undefined while it is not empty. */
  get idleSinceMs(): number | undefined {
    return this.#depth === 0 ? this.#idleSinceMs : undefined;
  }

  /** Rejects every further decision with `refusal`. Undefined: accepts them again. */
  shut(refusal: Refusal | undefined): void {
    this.#refusal = refusal;
  }

  /**
   * Resolves with the decision's result once it is durable. Throws Refusal `overloaded` when the mailbox is full, or
   * the caller has no share of all mailboxes left. `caller`: whose share the decision uses; the service's own writes
   * use nobody's share.
   */
  ask<T>(decide: Decision<T>, caller: Caller = this.#owner): Promise<T> {
    try {
      this.#enter(caller);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    return this.#store.write(this.writer, decide, () => this.#leave(caller));
  }

  #enter(caller: Caller): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#depth >= this.#depthMax) {
      throw new Refusal({
        kind: 'overloaded',
        what: 'too many writes of this account are waiting',
        retryAfterSeconds: limits.retryAfterSeconds,
      });
    }
    this.#waiting.grow(caller, 1);
    this.#depth += 1;
  }

  #leave(caller: Caller): void {
    this.#waiting.shrink(caller, 1);
    this.#depth -= 1;
    if (this.#depth === 0) this.#becomeIdle();
  }

  /**
   * As `ask`, for a decision whose result says all that it did. In a request with an idempotency key it happens once: a
   * repeat of the request gets the same result. `name`: the decision and what it depends on, except rows. `caller`: as
   * in `ask`; a decision for another account than the request's is made each time.
   */
  once<T>(name: DecisionName, decide: Decision<T>, caller: Caller = this.#owner): Promise<T> {
    const call = onceCall();
    const isOwn = call !== undefined && caller.accountId === call.accountId;
    const { kind, id } = this.writer;
    const place: DecisionName = kind === 'account' ? name : [kind, id, ...name];
    return this.ask(isOwn ? decidedOnce(call, place, decide) : decide, caller);
  }

  /** Resolves when every decision accepted so far is settled. */
  drain(): Promise<void> {
    if (this.#depth === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #becomeIdle(): void {
    this.#idleSinceMs = Date.now();
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const resolve of waiting) resolve();
  }
}
