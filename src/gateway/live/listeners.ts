/**
 * Notifies listeners of changes. Every half second it compares the resources of each listener with their last state.
 * Several changes within that time are one notification.
 */

import { invalidField } from '../../common/fault.ts';
import { type Caller, Shares } from '../../common/shares.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Seen, Subscription, Watched } from './watched.ts';

/** What a listener wants to be notified of. */
export interface Wish {
  readonly resources: boolean;
  readonly prompts: boolean;
  /** Resources by URI; the caller may change the map later. */
  readonly watched: ReadonlyMap<string, Subscription>;
}

export interface ListenerOptions {
  readonly caller: Caller & { readonly accountId: string };
  readonly wish: Wish;
  /** Sends a notification, with `params` as JSON members. */
  readonly notify: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Called when the hub stops. */
  readonly onEnd: () => void;
}

interface Listener extends ListenerOptions {
  readonly seen: Map<string, Seen>;
  resources: string | undefined;
  prompts: string | undefined;
}

export class Listeners {
  readonly #watched: Watched;
  readonly #all = new Map<Listener, () => void>();
  readonly #shares = new Shares({
    max: limits.listenersMax,
    what: 'too many clients listen for changes',
    retryAfterSeconds: limits.retryAfterSeconds,
  });
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isClosed = false;
  #revision: number | undefined;
  #looks = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Number of current listeners. */
  get count(): number {
    return this.#all.size;
  }

  /**
   * Adds a listener. Returns a function that removes it. Throws Refusal `overloaded` when there are too many listeners,
   * and `invalid_fields` when this account has too many.
   */
  add(options: ListenerOptions): () => void {
    const { accountId } = options.caller;
    const own = [...this.#all.keys()].filter(({ caller }) => caller.accountId === accountId).length;
    if (own >= limits.listenersPerAccountMax) {
      throw invalidField('notifications', `${own} clients of this account listen already; close one first`);
    }
    const release = this.#shares.take(options.caller);
    const listener: Listener = {
      ...options,
      seen: new Map(),
      resources: this.#watched.resourcesOf(accountId),
      prompts: this.#watched.promptsOf(accountId),
    };
    const end = () => {
      if (!this.#all.delete(listener)) return;
      release();
      if (this.#all.size === 0) clearInterval(this.#timer);
    };
    if (this.#isClosed) {
      release();
      options.onEnd();
      return () => undefined;
    }
    if (this.#all.size === 0) {
      this.#timer = setInterval(() => void this.#look(), limits.listenersLookMs);
      this.#timer.unref();
    }
    this.#all.set(listener, end);
    return end;
  }

  /** Ends all listeners; a listener added later ends at once. */
  close(): void {
    this.#isClosed = true;
    for (const [{ onEnd }, end] of Array.from(this.#all)) {
      end();
      onEnd();
    }
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#looks += 1;
    try {
      const revision = this.#watched.revisionOfAll;
      const isQuiet = revision !== undefined && revision === this.#revision;
      for (const listener of Array.from(this.#all.keys())) {
        if (turns.isOver) await turns.next(listener.caller.accountId);
        if (this.#all.has(listener)) await this.#tell(listener, isQuiet);
      }
      this.#revision = revision;
    } finally {
      this.#isLooking = false;
    }
  }

  async #tell(listener: Listener, isQuiet: boolean): Promise<void> {
    const { caller, wish, notify } = listener;
    if (!isQuiet) {
      const resources = this.#watched.resourcesOf(caller.accountId);
      if (resources !== undefined && resources !== listener.resources) {
        listener.resources = resources;
        if (wish.resources) notify('notifications/resources/list_changed', {});
      }
      const prompts = this.#watched.promptsOf(caller.accountId);
      if (prompts !== undefined && prompts !== listener.prompts) {
        listener.prompts = prompts;
        if (wish.prompts) notify('notifications/prompts/list_changed', {});
      }
    }
    for (const uri of listener.seen.keys()) if (!wish.watched.has(uri)) listener.seen.delete(uri);
    for (const subscription of wish.watched.values()) {
      if (await this.#hasChanged(listener, subscription, isQuiet)) {
        notify('notifications/resources/updated', { uri: subscription.uri });
      }
    }
  }

  /** True when a resource has changed since it was last checked. */
  async #hasChanged({ seen, caller }: Listener, subscription: Subscription, isQuiet: boolean): Promise<boolean> {
    const { uri, kind, since } = subscription;
    const before = seen.get(uri) ?? since;
    const isDue = kind.changesByDay === true && this.#looks % limits.listenersLooksByDay === 0;
    if (isQuiet && seen.has(uri) && !isDue) return false;
    const revision = this.#watched.revisionOf(caller.accountId, subscription);
    if (revision !== undefined && revision === before.revision && !isDue) {
      seen.set(uri, before);
      return false;
    }
    const now = await this.#watched.see(caller.accountId, subscription);
    seen.set(uri, now);
    return now.mark !== before.mark;
  }
}
