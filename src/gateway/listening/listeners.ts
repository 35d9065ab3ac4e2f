/**
 * Notifies clients of changes. A write to an account makes each of its listeners compare its resources with their last
 * state: at once, then after a rest, so that a burst of writes is one notification.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { invalidField, Refusal } from '../../common/fault.ts';
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
  /** Called when the hub stops, or cannot read what is listened to. */
  readonly onEnd: () => void;
}

interface Listener extends ListenerOptions {
  readonly seen: WeakMap<Subscription, Seen>;
  resources: string | undefined;
  prompts: string | undefined;
  isLooking: boolean;
  /** Something changed since the look in progress began. */
  isDue: boolean;
}

export interface ListeningClient {
  /** Compares the resources that depend on the day, if it has changed. */
  readonly checkDay: () => void;
  readonly end: () => void;
}

export class Listeners {
  readonly #watched: Watched;
  readonly #all = new Map<Listener, () => void>();
  readonly #shares = new Shares({
    max: limits.listenersMax,
    what: 'too many clients listen for changes',
    retryAfterSeconds: limits.retryAfterSeconds,
  });
  #isClosed = false;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Number of current listeners. */
  get count(): number {
    return this.#all.size;
  }

  /**
   * Adds a listener. Throws Refusal `overloaded` when there are too many listeners, and `invalid_fields` when this
   * account has too many.
   */
  add(options: ListenerOptions): ListeningClient {
    const { caller, wish, onEnd } = options;
    const { accountId } = caller;
    const own = this.#watched.watchersOf(accountId);
    if (own >= limits.listenersPerAccountMax) {
      throw invalidField('notifications', `${own} clients of this account listen already; close one first`);
    }
    const release = this.#shares.take(caller);
    if (this.#isClosed) {
      release();
      onEnd();
      return { checkDay: () => undefined, end: () => undefined };
    }
    const listener: Listener = {
      ...options,
      seen: new WeakMap(),
      resources: this.#watched.resourcesOf(accountId),
      prompts: this.#watched.promptsOf(accountId),
      isLooking: false,
      isDue: false,
    };
    const stop = this.#watched.watch(accountId, () => void this.#wake(listener));
    const end = () => {
      if (!this.#all.delete(listener)) return;
      stop();
      release();
    };
    this.#all.set(listener, end);
    // Finds writes since its subscriptions were made.
    void this.#wake(listener);
    const isOfAnotherDay = (one: Subscription) => this.#watched.isOfAnotherDay(accountId, one, seenOf(listener, one));
    const checkDay = () => {
      if ([...wish.watched.values()].some(isOfAnotherDay)) void this.#wake(listener);
    };
    return { checkDay, end };
  }

  /** Ends all listeners; a listener added later ends at once. */
  close(): void {
    this.#isClosed = true;
    for (const [{ onEnd }, end] of Array.from(this.#all)) {
      end();
      onEnd();
    }
  }

  /** Looks for changes now, or at the end of the rest after the last look. */
  async #wake(listener: Listener): Promise<void> {
    listener.isDue = true;
    if (listener.isLooking) return;
    listener.isLooking = true;
    try {
      while (listener.isDue && this.#all.has(listener)) {
        listener.isDue = false;
        if (turns.isOver) await turns.next(listener.caller.accountId);
        await this.#tell(listener);
        await delay(limits.listenersRestMs, undefined, { ref: false });
      }
    } catch (error) {
      // What changed is not known, so the client asks again. An error here has no other caller.
      this.#all.get(listener)?.();
      listener.onEnd();
      if (!(error instanceof Refusal)) throw error;
    } finally {
      listener.isLooking = false;
    }
  }

  async #tell(listener: Listener): Promise<void> {
    const { caller, wish, notify } = listener;
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
    for (const subscription of wish.watched.values()) {
      const before = seenOf(listener, subscription);
      const now = await this.#watched.next(caller.accountId, subscription, before);
      listener.seen.set(subscription, now);
      if (now.mark !== before.mark) notify('notifications/resources/updated', { uri: subscription.uri });
    }
  }
}

function seenOf({ seen }: Listener, subscription: Subscription): Seen {
  return seen.get(subscription) ?? subscription.since;
}
