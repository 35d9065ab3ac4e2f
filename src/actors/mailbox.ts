/**
 * Owns the order of one actor's writes: a bounded first-in-first-out mailbox of decisions.
 *
 * A decision is handed to the store at once and in order, so that many share one durable commit; its slot in the mailbox
 * is free again when that commit is on disk. An actor keeps no state of its own between decisions: each reads the rows
 * it decides on inside the transaction, so a failed commit leaves nothing to repair. All mailboxes share one bound, of which
 * nobody can take everything: an account has one mailbox for itself and one for each of its vaults.
 */
import { Refusal } from '../common/fault.ts';
import type { Caller, Shares } from '../common/shares.ts';
import { limits } from '../limits/service.ts';
import type { Decision } from '../store/group-commit.ts';
import type { Writer } from '../store/owners.ts';
import type { Store } from '../store/store.ts';

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

  /** `waiting`: the bound of all mailboxes together. */
  constructor(writer: Writer, store: Store, waiting: Shares, depthMax: number = limits.mailboxDepthMax) {
    this.writer = writer;
    this.#store = store;
    this.#waiting = waiting;
    this.#owner = writer.kind === 'account' ? { accountId: writer.id } : {};
    this.#depthMax = depthMax;
  }

  /** Decisions taken and not yet durable. */
  get depth(): number {
    return this.#depth;
  }

  /** When the mailbox last ran empty, in milliseconds since the epoch; undefined while it holds anything. */
  get idleSinceMs(): number | undefined {
    return this.#depth === 0 ? this.#idleSinceMs : undefined;
  }

  /** From now on refuses every further decision; undefined: takes them again. */
  shut(refusal: Refusal | undefined): void {
    this.#refusal = refusal;
  }

  /**
   * Resolves with the decision's result once it is durable. Refuses with `overloaded` when the mailbox is full, or the caller
   * has no share of all mailboxes left. `caller`: for whom it waits; the service's own writes are counted for nobody.
   */
  async ask<T>(decide: Decision<T>, caller: Caller = this.#owner): Promise<T> {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#depth >= this.#depthMax) {
      throw new Refusal({
        kind: 'overloaded',
        what: 'too many writes of this account are waiting',
        retryAfterSeconds: limits.retryAfterSeconds,
      });
    }
    const release = this.#waiting.take(caller);
    this.#depth += 1;
    try {
      return await this.#store.write(this.writer, decide);
    } finally {
      release();
      this.#depth -= 1;
      if (this.#depth === 0) this.#becomeIdle();
    }
  }

  /** Resolves when everything taken so far is settled. */
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
