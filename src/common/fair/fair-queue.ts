/**
 * Queues items so that callers take turns: the next item belongs to the caller served longest ago, however much the
 * others queued. Pure.
 */

import { isNetwork, STRANGERS } from './strangers.ts';

export class FairQueue<T> {
  /** In the order of turns. No list is empty. */
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  /** Number of items of all callers. */
  get size(): number {
    return this.#size;
  }

  push(caller: string, item: T): void {
    const queue = this.#queues.get(caller);
    if (queue === undefined) this.#queues.set(caller, [item]);
    else queue.push(item);
    this.#size += 1;
  }

  /** Removes and returns the oldest item of the caller whose turn it is; undefined when the queue is empty. */
  shift(): T | undefined {
    for (const [caller, queue] of this.#queues) {
      this.#queues.delete(caller);
      const item = queue.shift();
      if (queue.length > 0) this.#queues.set(caller, queue);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }
}

/** As `FairQueue`, but all networks together take the turns of one account, and divide them among themselves. */
export class FairClasses<T> {
  /** The item of a stranger is undefined here: its place, which the networks fill. */
  readonly #callers = new FairQueue<{ readonly item: T } | undefined>();
  readonly #strangers = new FairQueue<T>();

  /** Number of items of all callers. */
  get size(): number {
    return this.#callers.size;
  }

  /** `caller`: an account or a network. */
  push(caller: string, item: T): void {
    if (isNetwork(caller)) {
      this.#strangers.push(caller, item);
      this.#callers.push(STRANGERS, undefined);
    } else this.#callers.push(caller, { item });
  }

  /** Removes and returns the oldest item of the caller whose turn it is; undefined when the queue is empty. */
  shift(): T | undefined {
    if (this.#callers.size === 0) return undefined;
    const next = this.#callers.shift();
    return next === undefined ? this.#strangers.shift() : next.item;
  }
}
