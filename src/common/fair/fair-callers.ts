/**
 * Divides time among accounts and strangers. All strangers together are one caller, so that many addresses get no more
 * than one account; among them, the networks divide that time. Pure.
 */
import { FairTime } from './fair-time.ts';
import { isNetwork, STRANGERS } from './strangers.ts';

export class FairCallers<T> {
  /** The item of a stranger is undefined here: its place, which the networks fill. */
  readonly #callers = new FairTime<T | undefined>();
  readonly #strangers = new FairTime<T>();

  /** Number of waiting items. */
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
  shift(): { readonly caller: string; readonly item: T } | undefined {
    const next = this.#callers.shift();
    if (next?.caller === STRANGERS) return this.#strangers.shift();
    return next as { readonly caller: string; readonly item: T } | undefined;
  }

  /** Charges a caller for milliseconds of work. */
  charge(caller: string, ms: number): void {
    if (isNetwork(caller)) {
      this.#strangers.charge(caller, ms);
      this.#callers.charge(STRANGERS, ms);
    } else this.#callers.charge(caller, ms);
  }

  /** Forgets recent work when the queue is empty. */
  forget(): void {
    this.#callers.forget();
    this.#strangers.forget();
  }
}
