/**
 * Divides time among accounts and strangers. All strangers together are one caller, so that many addresses get no more
 * than one account; among them, the networks divide that time. Pure.
 */
import { FairTime } from './fair-time.ts';
import { isNetwork, STRANGERS, StrangersAsOne } from './strangers.ts';

export class FairCallers<T> extends StrangersAsOne<T> {
  readonly #callers: FairTime<T | undefined>;
  readonly #strangers: FairTime<T>;

  constructor() {
    const [callers, strangers] = [new FairTime<T | undefined>(), new FairTime<T>()];
    super(callers, strangers);
    this.#callers = callers;
    this.#strangers = strangers;
  }

  /** True when an item of this caller would be the next. A network is that only if no other stranger waits. */
  isFirst(caller: string): boolean {
    if (!isNetwork(caller)) return this.#callers.isFirst(caller);
    return this.#callers.isFirst(STRANGERS) && this.#strangers.isFirst(caller);
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
