/** Finds or starts the actor of an id, passivates idle actors and drains all of them. */
import type { Refusal } from '../common/fault.ts';
import { Shares } from '../common/shares.ts';
import { limits } from '../limits/service.ts';
import type { WriterKind } from '../store/owners.ts';
import type { Store } from '../store/store.ts';
import { Actor } from './mailbox.ts';

export class ActorRegistry {
  /** Limits the writes waiting in all mailboxes and divides them between callers. */
  readonly waiting = new Shares({
    max: limits.waitingWritesMax,
    what: 'too many writes are waiting',
    retryAfterSeconds: limits.retryAfterSeconds,
  });
  readonly #store: Store;
  readonly #actors = new Map<string, Actor>();
  /** Accounts closed for writing, each with the Refusal that its callers receive. */
  readonly #shut = new Map<string, Refusal>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(store: Store) {
    this.#store = store;
    this.#sweeper = setInterval(() => this.#passivate(), limits.actorIdleMs);
    this.#sweeper.unref();
  }

  /** The one actor that writes the rows of an account. */
  account(accountId: string): Actor {
    return this.#actor('account', accountId);
  }

  /** Rejects every further decision of an account until `reopen` or the end of the process. */
  shut(accountId: string, refusal: Refusal): void {
    this.#shut.set(accountId, refusal);
    this.account(accountId).shut(refusal);
  }

  reopen(accountId: string): void {
    this.#shut.delete(accountId);
    this.account(accountId).shut(undefined);
  }

  /** The one actor that writes the rows of a vault. */
  vault(vaultId: string): Actor {
    return this.#actor('vault', vaultId);
  }

  /** The one actor that creates accounts. */
  directory(): Actor {
    return this.#actor('directory', '');
  }

  /** The one actor that writes the rows of device codes. */
  devices(): Actor {
    return this.#actor('devices', '');
  }

  /** The one actor that writes the rows of registered clients, which belong to no account. */
  clients(): Actor {
    return this.#actor('clients', '');
  }

  #actor(kind: WriterKind, id: string): Actor {
    const name = `${kind} ${id}`;
    let actor = this.#actors.get(name);
    if (actor === undefined) {
      actor = new Actor({ kind, id }, this.#store, this.waiting);
      if (kind === 'account') actor.shut(this.#shut.get(id));
      this.#actors.set(name, actor);
    }
    return actor;
  }

  /** Number of running actors, of decisions waiting in all of them, and of those in the fullest one. */
  get load(): { readonly actors: number; readonly decisions: number; readonly deepest: number } {
    let decisions = 0;
    let deepest = 0;
    for (const { depth } of this.#actors.values()) {
      decisions += depth;
      deepest = Math.max(deepest, depth);
    }
    return { actors: this.#actors.size, decisions, deepest };
  }

  /** Resolves when no actor has decisions left. */
  async drain(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#actors.values()].map((actor) => actor.drain()));
  }

  /** Drops idle actors. They have no state, so nothing is lost. */
  #passivate(): void {
    const oldest = Date.now() - limits.actorIdleMs;
    for (const [name, actor] of this.#actors) {
      const since = actor.idleSinceMs;
      if (since !== undefined && since <= oldest) this.#actors.delete(name);
    }
  }
}
