/** Tells callers with an account from strangers, who are one caller wherever turns are shared. Pure. */

/** The name of all strangers together. */
export const STRANGERS = 'strangers';

/** True for an address or a block of addresses; false for the id of an account. */
export function isNetwork(caller: string): boolean {
  return caller.includes('.') || caller.includes(':');
}

/** An item whose turn it is. */
export interface NextTurn<T> {
  readonly caller: string;
  readonly item: T;
}

/** Items of callers, in the order of their turns. */
interface Line<T> {
  /** Number of items of all callers. */
  readonly size: number;
  push(caller: string, item: T): void;
  /** Removes and returns the item whose turn it is. */
  next(): NextTurn<T> | undefined;
}

/** A line in which all networks together have the turns of one account. A second line divides these among them. */
export class StrangersAsOne<T> {
  /** The item of a stranger is undefined here: its place, which the networks fill. */
  readonly #callers: Line<T | undefined>;
  readonly #strangers: Line<T>;

  constructor(callers: Line<T | undefined>, strangers: Line<T>) {
    this.#callers = callers;
    this.#strangers = strangers;
  }

  /** Number of items of all callers. */
  get size(): number {
    return this.#callers.size;
  }

  /** `caller`: an account or a network. */
  push(caller: string, item: T): void {
    if (isNetwork(caller)) {
      this.#strangers.push(caller, item);
      this.#callers.push(STRANGERS, undefined);
    } else this.#callers.push(caller, item);
  }

  /** Removes and returns the item whose turn it is, and its caller. */
  next(): NextTurn<T> | undefined {
    const next = this.#callers.next();
    return next?.caller === STRANGERS ? this.#strangers.next() : (next as NextTurn<T> | undefined);
  }
}
