/**
 * Queues items so that callers take turns: the next item belongs to the caller served longest ago, however much the
 * others queued. Pure.
 */
import type { NextTurn } from './strangers.ts';

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
    return this.next()?.item;
  }

  /** As `shift`, with the caller. */
  next(): NextTurn<T> | undefined {
    for (const [caller, queue] of this.#queues) {
      const item = queue.shift() as T;
      // Alone it is the next one again.
      if (queue.length === 0 || this.#queues.size > 1) this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue);
      this.#size -= 1;
      return { caller, item };
    }
    return undefined;
  }
}
