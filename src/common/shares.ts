/**
 * Divides a limited resource among all callers, so that no caller locks out the others. Pure. Three quarters are open
 * to anyone. The next eighth is only for accounts, and the last one only for addresses, with a small share: at most a
 * sixteenth of the whole. The two are separate because many people can share one address (a proxy, an office), and one
 * person can have many accounts.
 */
import { Refusal } from './fault.ts';
import { isAlone, networksOf } from './networks.ts';

/** The caller that a share is counted for. Unknown parts are not counted. */
export interface Caller {
  readonly accountId?: string | undefined;
  /** The address, or its narrowest network. It is counted in all of its networks. */
  readonly address?: string | undefined;
}

/** The share of one piece of work. */
export interface Lease {
  /** Sets the held amount. Throws Refusal `overloaded` when it cannot grow; the held amount is then unchanged. */
  hold(amount: number): void;
  /** Releases the whole amount. Calling it again does nothing. */
  release(): void;
}

export interface SharesOptions {
  readonly max: number;
  /** Name of the exhausted resource, for the message of a refusal. */
  readonly what: string;
  readonly retryAfterSeconds: number;
}

/** Fraction of the whole that counts as a small share. */
const LITTLE = 1 / 16;
/** Fraction reserved for accounts with a small share, and again for addresses with a small share. */
const KEPT = 1 / 8;

export class Shares {
  readonly #options: SharesOptions;
  readonly #ofAccounts = new Held();
  readonly #ofAddresses = new Held();
  #used = 0;
  #refused = 0;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** The amount held, its maximum, and the number of refused requests. */
  get state(): { readonly used: number; readonly max: number; readonly refused: number } {
    return { used: this.#used, max: this.#options.max, refused: this.#refused };
  }

  /** Number of callers, by account and by address, that hold something. */
  get holders(): number {
    return this.#ofAccounts.size + this.#ofAddresses.size;
  }

  /** True when the caller could get this much more now. */
  fits({ accountId, address }: Caller, amount: number): boolean {
    const { max } = this.#options;
    const after = this.#used + amount;
    const kept = Math.ceil(max * KEPT);
    if (after <= max - 2 * kept) return true;
    const little = Math.max(1, Math.floor(max * LITTLE));
    const isLittleOfAddress = () =>
      address === undefined ||
      networksOf(address).every(({ name, share }) => this.#ofAddresses.of(name) + amount <= little * share);
    // Without an account, only the address identifies a caller.
    const isLittle = accountId === undefined ? isLittleOfAddress() : this.#ofAccounts.of(accountId) + amount <= little;
    if (!isLittle) return false;
    return after <= max - kept || (after <= max && isLittleOfAddress());
  }

  /** Takes `amount` and returns the function that releases it, once. Throws Refusal `overloaded`. */
  take(caller: Caller, amount = 1): () => void {
    const lease = this.lease(caller, amount);
    return () => lease.release();
  }

  /** Like `take`, for an amount that grows and shrinks. */
  lease(caller: Caller, amount = 0): Lease {
    this.grow(caller, amount);
    return new HeldLease(this, caller, amount);
  }

  /** Takes `amount`; whoever takes it calls `shrink` once. Throws Refusal `overloaded`. */
  grow(caller: Caller, amount: number): void {
    if (amount === 0) return;
    if (!this.fits(caller, amount)) {
      this.#refused += 1;
      const { what, retryAfterSeconds } = this.#options;
      throw new Refusal({ kind: 'overloaded', what, retryAfterSeconds });
    }
    this.#add(caller, amount);
  }

  /** Gives back what `grow` took. */
  shrink(caller: Caller, amount: number): void {
    if (amount > 0) this.#add(caller, -amount);
  }

  #add({ accountId, address }: Caller, amount: number): void {
    this.#used += amount;
    if (accountId !== undefined) this.#ofAccounts.add(accountId, amount);
    if (address === undefined) return;
    if (isAlone(address)) this.#ofAddresses.add(address, amount);
    else for (const { name } of networksOf(address)) this.#ofAddresses.add(name, amount);
  }
}

class HeldLease implements Lease {
  readonly #shares: Shares;
  readonly #caller: Caller;
  #held: number;
  #isOver = false;

  constructor(shares: Shares, caller: Caller, held: number) {
    this.#shares = shares;
    this.#caller = caller;
    this.#held = held;
  }

  hold(wanted: number): void {
    if (this.#isOver) return;
    if (wanted > this.#held) this.#shares.grow(this.#caller, wanted - this.#held);
    else this.#shares.shrink(this.#caller, this.#held - wanted);
    this.#held = wanted;
  }

  release(): void {
    this.#isOver = true;
    this.#shares.shrink(this.#caller, this.#held);
    this.#held = 0;
  }
}

/** The amounts held by the callers of a kind. */
class Held {
  readonly #amounts = new Map<string, number>();

  get size(): number {
    return this.#amounts.size;
  }

  of(key: string): number {
    return this.#amounts.get(key) ?? 0;
  }

  add(key: string, amount: number): void {
    const after = this.of(key) + amount;
    if (after === 0) this.#amounts.delete(key);
    else this.#amounts.set(key, after);
  }
}
