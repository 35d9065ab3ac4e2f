/**
 * Divides time among callers: deficit round robin (Shreedhar and Varghese, 1995) with costs that are known only after
 * the work, and with the rule of FQ-CoDel (RFC 8290, 4.2) that a caller without recent work goes first. Each caller
 * has a balance in milliseconds. Work is taken from it, and each round adds a quantum. So callers who always want more get equal
 * time, however long each of their pieces takes, and a caller who wants little hardly waits. Pure.
 */
import type { NextTurn } from './strangers.ts';

/** Time that a caller gets in each round, in milliseconds. */
export const QUANTUM_MS = 0.5;
/** Largest debt remembered: one long piece must not shut its caller out for long. */
const DEBT_MS_MAX = 100;

class Account<T> {
  readonly name: string;
  readonly items: T[] = [];
  balanceMs = QUANTUM_MS;
  isListed = false;

  constructor(name: string) {
    this.name = name;
  }
}

export class FairTime<T> {
  /** Callers with items, and those whose recent work is still remembered. */
  #accounts = new Map<string, Account<T>>();
  /** Callers without recent work, in the order of arrival. */
  readonly #fresh: Account<T>[] = [];
  /** All other callers in their order of turns. One without items stays until its turn. */
  readonly #round: Account<T>[] = [];
  #size = 0;

  /** Number of items of all callers. */
  get size(): number {
    return this.#size;
  }

  /** Number of callers with items or recent work. */
  get callers(): number {
    return this.#accounts.size;
  }

  push(caller: string, item: T): void {
    const account = this.#accountOf(caller);
    account.items.push(item);
    this.#size += 1;
    this.#list(account);
  }

  /** Removes and returns the oldest item of the caller whose turn it is, and that caller. */
  next(): NextTurn<T> | undefined {
    while (this.#size > 0) {
      const list = this.#fresh.length > 0 ? this.#fresh : this.#round;
      const [account] = list;
      if (account === undefined) return undefined;
      if (account.balanceMs <= 0) {
        list.shift();
        account.balanceMs += QUANTUM_MS;
        this.#round.push(account);
      } else if (account.items.length === 0) {
        list.shift();
        // It keeps its place for one round. Otherwise it could come back as a caller without recent work at once.
        if (list === this.#fresh) this.#round.push(account);
        else this.#accounts.delete(account.name);
      } else {
        const item = account.items.shift() as T;
        this.#size -= 1;
        return { caller: account.name, item };
      }
    }
    return undefined;
  }

  /** Charges a caller for work that it did. */
  charge(caller: string, ms: number): void {
    const account = this.#accountOf(caller);
    account.balanceMs = Math.max(account.balanceMs - ms, -DEBT_MS_MAX);
    // Its turns pay the debt, and then it is forgotten.
    if (account.balanceMs <= 0) this.#list(account);
  }

  /** Forgets recent work. For a moment at which the queue is empty. */
  forget(): void {
    if (this.#size > 0 || this.#accounts.size === 0) return;
    // Not cleared: a cleared Map links its old table to the new one, which garbage collection then copies (`http/bag.ts`).
    this.#accounts = new Map();
    this.#fresh.length = 0;
    this.#round.length = 0;
  }

  #list(account: Account<T>): void {
    if (account.isListed) return;
    account.isListed = true;
    (account.balanceMs > 0 ? this.#fresh : this.#round).push(account);
  }

  #accountOf(caller: string): Account<T> {
    const known = this.#accounts.get(caller);
    if (known !== undefined) return known;
    const account = new Account<T>(caller);
    this.#accounts.set(caller, account);
    return account;
  }
}
