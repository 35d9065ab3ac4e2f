/** Notifies open pages of changes in their account, and numbers the state of each account. */
import { randomBytes } from 'node:crypto';
import { limits } from '../../limits/service.ts';
import type { LiveTopic } from '../visit.ts';

export interface LiveListener {
  /** Rows of this topic were committed. */
  changed(topic: LiveTopic, rows: number): void;
  /** A session ended or the account was disabled: check again whether this listener may listen. */
  recheck(): void;
}

export class LiveChanges {
  /** Different after each start, so that pages made by an earlier process count as outdated. */
  readonly #epoch = randomBytes(6).toString('base64url');
  readonly #listeners = new Map<string, Set<LiveListener>>();
  /** The count at the last change of each account, oldest change first. */
  readonly #marks = new Map<string, number>();
  /** Used for forgotten accounts: their last change is at most this count. */
  #floor = 0;
  #count = 0;

  /** Identifies the state of an account: equal marks mean that nothing has changed in between. */
  markOf(accountId: string): string {
    return `${this.#epoch}.${this.#marks.get(accountId) ?? this.#floor}`;
  }

  note(accountId: string, topic: LiveTopic, rows: number): void {
    this.#count += 1;
    this.#marks.delete(accountId);
    this.#marks.set(accountId, this.#count);
    this.#forgetOldest();
    for (const listener of this.#listeners.get(accountId) ?? []) listener.changed(topic, rows);
  }

  /** Makes every listener of an account check its permission again. */
  recheck(accountId: string): void {
    for (const listener of Array.from(this.#listeners.get(accountId) ?? [])) listener.recheck();
  }

  /** Number of listeners of an account. */
  listenersOf(accountId: string): number {
    return this.#listeners.get(accountId)?.size ?? 0;
  }

  /** Returns a function that stops listening. */
  listen(accountId: string, listener: LiveListener): () => void {
    const listeners = this.#listeners.get(accountId) ?? new Set();
    this.#listeners.set(accountId, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(accountId) === listeners) this.#listeners.delete(accountId);
    };
  }

  #forgetOldest(): void {
    if (this.#marks.size <= limits.liveAccountsRemembered) return;
    const [oldest] = this.#marks;
    if (oldest === undefined) return;
    this.#marks.delete(oldest[0]);
    this.#floor = Math.max(this.#floor, oldest[1]);
  }
}
