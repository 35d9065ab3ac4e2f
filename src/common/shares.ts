/**
 * Owns who may hold how much of a bound that all callers share, so that no caller keeps the others out. Pure.
 * Three quarters are open to anyone. The next eighth is only for accounts, and the last one only for addresses, that hold
 * little: at most a sixteenth of the whole. The two parts are apart because many people can have one address (a proxy,
 * an office), and one person can have many accounts.
 */
import { Refusal } from './fault.ts';

/** Whom something is counted for. What is unknown is not counted. */
export interface Caller {
  readonly accountId?: string | undefined;
  /** The address, or the block of addresses of one subscriber. */
  readonly address?: string | undefined;
}

/** What one piece of work holds. */
export interface Lease {
  /** Makes it hold exactly this much. Throws Refusal `overloaded` when it cannot grow, and then holds what it held. */
  hold(amount: number): void;
  /** Gives all of it back; a second time does nothing. */
  release(): void;
}

export interface SharesOptions {
  readonly max: number;
  /** What there is too much of, for the message of a refusal. */
  readonly what: string;
  readonly retryAfterSeconds: number;
}

/** The part of the whole that counts as little. */
const LITTLE = 1 / 16;
/** The part that is kept for those who hold little by account, and again by address. */
const KEPT = 1 / 8;

export class Shares {
  readonly #options: SharesOptions;
  readonly #held = new Map<string, number>();
  #used = 0;
  #refused = 0;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** What is held now, the most that can be, and how often more was asked for. */
  get state(): { readonly used: number; readonly max: number; readonly refused: number } {
    return { used: this.#used, max: this.#options.max, refused: this.#refused };
  }

  /** Callers, by account and by address, that hold something now. */
  get holders(): number {
    return this.#held.size;
  }

  /** Whether the caller would get this much more now. */
  fits({ accountId, address }: Caller, amount: number): boolean {
    const { max } = this.#options;
    const after = this.#used + amount;
    const kept = Math.ceil(max * KEPT);
    if (after <= max - 2 * kept) return true;
    const little = Math.max(1, Math.floor(max * LITTLE));
    const holdsLittle = (key: string | undefined) => key === undefined || this.#of(key) + amount <= little;
    // Without an account the address is all that a caller is known by.
    const who = accountId === undefined ? addressKey(address) : accountKey(accountId);
    if (!holdsLittle(who)) return false;
    return after <= max - kept || (after <= max && holdsLittle(addressKey(address)));
  }

  /** Takes `amount` and returns how to give it back, once. Throws Refusal `overloaded`. */
  take(caller: Caller, amount = 1): () => void {
    const lease = this.lease(caller, amount);
    return () => lease.release();
  }

  /** As `take`, for what grows and shrinks. */
  lease(caller: Caller, amount = 0): Lease {
    this.#grow(caller, amount);
    let held = amount;
    let isOver = false;
    return {
      hold: (wanted) => {
        if (isOver) return;
        if (wanted > held) this.#grow(caller, wanted - held);
        else this.#shrink(caller, held - wanted);
        held = wanted;
      },
      release: () => {
        isOver = true;
        this.#shrink(caller, held);
        held = 0;
      },
    };
  }

  #of(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  #grow(caller: Caller, amount: number): void {
    if (amount === 0) return;
    if (!this.fits(caller, amount)) {
      this.#refused += 1;
      const { what, retryAfterSeconds } = this.#options;
      throw new Refusal({ kind: 'overloaded', what, retryAfterSeconds });
    }
    this.#add(caller, amount);
  }

  #shrink(caller: Caller, amount: number): void {
    if (amount > 0) this.#add(caller, -amount);
  }

  #add({ accountId, address }: Caller, amount: number): void {
    this.#used += amount;
    for (const key of [accountKey(accountId), addressKey(address)]) {
      if (key === undefined) continue;
      const after = this.#of(key) + amount;
      if (after === 0) this.#held.delete(key);
      else this.#held.set(key, after);
    }
  }
}

function accountKey(accountId: string | undefined): string | undefined {
  return accountId === undefined ? undefined : `account ${accountId}`;
}

function addressKey(address: string | undefined): string | undefined {
  return address === undefined ? undefined : `address ${address}`;
}
