/** Owns the living actors: finds or starts the one of an id, passivates the idle, drains them all. */
import type { Refusal } from '../common/fault.ts';
import { Shares } from '../common/shares.ts';
import { limits } from '../limits/service.ts';
import type { WriterKind } from '../store/owners.ts';
import type { Store } from '../store/store.ts';
import { Actor } from './mailbox.ts';

export class ActorRegistry {
  /** Writes that wait in all mailboxes. */
  readonly waiting = new Shares({
    max: limits.waitingWritesMax,
    what: 'too many writes are waiting',
    retryAfterSeconds: limits.retryAfterSeconds,
  });
  readonly #store: Store;
  readonly #actors = new Map<string, Actor>();
  /** Accounts that write nothing any more, and what whoever asks is told. */
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

  /** Takes no further decision of an account, for as long as this process lives. */
  shut(accountId: string, refusal: Refusal): void {
    this.#shut.set(accountId, refusal);
    this.account(accountId).shut(refusal);
  }

  /** Takes decisions of an account again. */
  reopen(accountId: string): void {
    this.#shut.delete(accountId);
    this.account(accountId).shut(undefined);
  }

  /** The one actor that writes the rows of a vault. */
  vault(vaultId: string): Actor {
    return this.#actor('vault', vaultId);
  }

  /** The one actor that makes accounts. */
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

  /** Actors that live now, the decisions that wait in all of them, and those in the fullest. */
  get load(): { readonly actors: number; readonly decisions: number; readonly deepest: number } {
    let decisions = 0;
    let deepest = 0;
    for (const { depth } of this.#actors.values()) {
      decisions += depth;
      deepest = Math.max(deepest, depth);
    }
    return { actors: this.#actors.size, decisions, deepest };
  }

  /** Resolves when no actor holds a decision any more. */
  async drain(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#actors.values()].map((actor) => actor.drain()));
  }

  /** An idle actor holds nothing, so dropping it loses nothing. */
  #passivate(): void {
    const oldest = Date.now() - limits.actorIdleMs;
    for (const [name, actor] of this.#actors) {
      const since = actor.idleSinceMs;
      if (since !== undefined && since <= oldest) this.#actors.delete(name);
    }
  }
}
