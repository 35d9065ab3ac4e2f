/** Stores subscriptions of clients before 2026-07-28 by session, in memory only and bounded per account. */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Subscription, Watched } from './watched.ts';

interface SessionEntry {
  readonly accountId: string;
  readonly watched: Map<string, Subscription>;
  /** Ends the stream of the session; undefined when it has none. */
  endStream: (() => void) | undefined;
}

export class Subscriptions {
  readonly #watched: Watched;
  /** Least recently used first. */
  readonly #sessions = new Map<string, SessionEntry>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** False when no resource has a URI of this form. Throws Refusal `invalid_fields` (`uri`) when there are too many. */
  async subscribe(accountId: string, sessionId: string, uri: unknown): Promise<boolean> {
    const resource = this.#watched.find(uri);
    if (resource === undefined) return false;
    const { watched } = this.of(accountId, sessionId);
    if (!watched.has(resource.uri) && watched.size >= limits.subscriptionsMax) {
      throw invalidField(
        'uri',
        `a session has at most ${limits.subscriptionsMax} subscriptions; unsubscribe from one first`,
      );
    }
    watched.set(resource.uri, await this.#watched.begin(accountId, resource));
    return true;
  }

  unsubscribe(accountId: string, sessionId: string, uri: unknown): void {
    if (typeof uri === 'string') this.of(accountId, sessionId).watched.delete(uri);
  }

  /** The entry of a session, created if missing. At a limit (of the account or overall) drops the least recent one. */
  of(accountId: string, sessionId: string): SessionEntry {
    const name = `${accountId} ${sessionId}`;
    const entry = this.#sessions.get(name) ?? this.#make(accountId);
    this.#sessions.delete(name);
    this.#sessions.set(name, entry);
    return entry;
  }

  #make(accountId: string): SessionEntry {
    const own = [...this.#sessions].filter(([, entry]) => entry.accountId === accountId);
    const isFull = own.length >= limits.subscribingSessionsMax;
    const [oldest] = isFull ? own : this.#sessions.size >= limits.listenersMax ? this.#sessions : [];
    if (oldest !== undefined) {
      oldest[1].endStream?.();
      this.#sessions.delete(oldest[0]);
    }
    return { accountId, watched: new Map(), endStream: undefined };
  }
}
