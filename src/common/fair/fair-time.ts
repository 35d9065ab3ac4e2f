/**
 * Divides time among callers: start-time fair queueing (Goyal, Vin and Cheng, 1996) with costs that are known only after
 * the work. Each caller has a clock, which its work advances, and whoever is furthest behind goes next. A caller without
 * recent work starts where the queue is, before all who had some. So callers who always want more get equal time,
 * however long each of their pieces takes, and one that wants less than its part waits for one piece only. Pure.
 */
import type { NextTurn } from './strangers.ts';

/** How far a clock may be ahead: one long piece must not shut its caller out for long. */
const AHEAD_MS_MAX = 100;

class Account<T> {
  readonly name: string;
  readonly items: T[] = [];
  clockMs: number;
  /** Orders accounts with equal clocks: who waits longer goes first. */
  since: number;
  /** Its place in the heap. */
  at: number;

  constructor(name: string, { clockMs, since, at }: { clockMs: number; since: number; at: number }) {
    this.name = name;
    this.clockMs = clockMs;
    this.since = since;
    this.at = at;
  }

  isBefore({ clockMs, since }: Account<T>): boolean {
    return this.clockMs < clockMs || (this.clockMs === clockMs && this.since < since);
  }
}

export class FairTime<T> {
  /** Callers with items, and those that are ahead of the queue. */
  #accounts = new Map<string, Account<T>>();
  /** All accounts as a heap: none stands after those at `2 * at + 1` and `2 * at + 2`. */
  readonly #heap: Account<T>[] = [];
  /** Clock of the caller that was served last. */
  #clockMs = 0;
  #arrivals = 0;
  #size = 0;

  /** Number of items of all callers. */
  get size(): number {
    return this.#size;
  }

  /** Number of callers with items or recent work. */
  get callers(): number {
    return this.#heap.length;
  }

  /** True when an item of this caller would be the next: it has none, and used less than all who wait. */
  isFirst(caller: string): boolean {
    const account = this.#accounts.get(caller);
    if (account !== undefined && (account.items.length > 0 || account.clockMs > this.#clockMs)) return false;
    for (let top = this.#heap[0]; top !== undefined && top.clockMs <= this.#clockMs; top = this.#heap[0]) {
      if (top.items.length > 0) return false;
      this.#drop(top);
    }
    return true;
  }

  push(caller: string, item: T): void {
    const account = this.#accountOf(caller);
    if (account.items.length === 0) {
      account.clockMs = Math.max(account.clockMs, this.#clockMs);
      account.since = this.#arrived();
      this.#sink(account);
    }
    account.items.push(item);
    this.#size += 1;
  }

  /** Removes and returns the oldest item of the caller whose turn it is, and that caller. */
  next(): NextTurn<T> | undefined {
    while (this.#size > 0) {
      const account = this.#heap[0] as Account<T>;
      this.#clockMs = Math.max(this.#clockMs, account.clockMs);
      if (account.items.length === 0) {
        this.#drop(account);
        continue;
      }
      const item = account.items.shift() as T;
      this.#size -= 1;
      // Its work is charged later: until then, those with the same clock go first.
      account.since = this.#arrived();
      this.#sink(account);
      return { caller: account.name, item };
    }
    return undefined;
  }

  /** Charges a caller for work that it did. */
  charge(caller: string, ms: number): void {
    const account = this.#accountOf(caller);
    account.clockMs = Math.min(account.clockMs + ms, this.#clockMs + AHEAD_MS_MAX);
    this.#sink(account);
  }

  /** Forgets recent work. For a moment at which the queue is empty. */
  forget(): void {
    if (this.#size > 0 || this.#heap.length === 0) return;
    // Not cleared: a cleared Map links its old table to the new one, which garbage collection then copies (`http/bag.ts`).
    this.#accounts = new Map();
    this.#heap.length = 0;
  }

  #arrived(): number {
    this.#arrivals += 1;
    return this.#arrivals;
  }

  #accountOf(caller: string): Account<T> {
    const known = this.#accounts.get(caller);
    if (known !== undefined) return known;
    const account = new Account<T>(caller, { clockMs: this.#clockMs, since: this.#arrived(), at: this.#heap.length });
    this.#accounts.set(caller, account);
    this.#heap.push(account);
    this.#rise(account);
    return account;
  }

  /** Forgets a caller that is no longer ahead: it is like one without recent work. */
  #drop(account: Account<T>): void {
    this.#accounts.delete(account.name);
    const last = this.#heap.pop() as Account<T>;
    if (last === account) return;
    last.at = account.at;
    this.#heap[last.at] = last;
    this.#sink(last);
  }

  #rise(account: Account<T>): void {
    while (account.at > 0) {
      const above = this.#heap[(account.at - 1) >> 1] as Account<T>;
      if (!account.isBefore(above)) return;
      this.#swap(account, above);
    }
  }

  /** Restores the heap after a clock went forward. */
  #sink(account: Account<T>): void {
    for (;;) {
      const left = this.#heap[2 * account.at + 1];
      const right = this.#heap[2 * account.at + 2];
      const below = left !== undefined && right?.isBefore(left) === true ? right : left;
      if (below?.isBefore(account) !== true) return;
      this.#swap(account, below);
    }
  }

  #swap(one: Account<T>, other: Account<T>): void {
    [one.at, other.at] = [other.at, one.at];
    this.#heap[one.at] = one;
    this.#heap[other.at] = other;
  }
}
