/** Owns a queue in which callers take turns: the next item is of whoever was served longest ago, whatever the others queued. Pure. */

export class FairQueue<T> {
  /** In the order of turns. No entry is empty. */
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  /** Items of all callers. */
  get size(): number {
    return this.#size;
  }

  push(caller: string, item: T): void {
    const queue = this.#queues.get(caller);
    if (queue === undefined) this.#queues.set(caller, [item]);
    else queue.push(item);
    this.#size += 1;
  }

  /** Takes the oldest item of the caller whose turn it is; undefined when there is none. */
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
