/** Names of written things that are yet to be read, each once, in the order in which they were written. Pure. */
export class Backlog {
  /** From the first taken on. A name that was written again is there twice, and counts where it is taken first. */
  #order: string[] = [];
  #from = 0;
  readonly #names = new Set<string>();

  get size(): number {
    return this.#names.size;
  }

  add(name: string): void {
    this.#names.add(name);
    this.#order.push(name);
    if (this.#order.length > 2 * this.#names.size + COMPACTED_FROM) this.#compact();
  }

  /** Takes the name that was written first of all. */
  takeOldest(): string | undefined {
    while (this.#from < this.#order.length) {
      const name = this.#order[this.#from] ?? '';
      this.#from += 1;
      if (this.#names.delete(name)) return name;
    }
    this.#clear();
    return undefined;
  }

  /** Takes the name that was written last of all. */
  takeNewest(): string | undefined {
    while (this.#order.length > this.#from) {
      const name = this.#order.pop() ?? '';
      if (this.#names.delete(name)) return name;
    }
    this.#clear();
    return undefined;
  }

  #clear(): void {
    this.#order = [];
    this.#from = 0;
  }

  /** Leaves out what was taken, and of names that are there twice the first place. */
  #compact(): void {
    const order = this.#order.slice(this.#from).reverse();
    this.#order = [...new Set(order.filter((name) => this.#names.has(name)))].reverse();
    this.#from = 0;
  }
}

const COMPACTED_FROM = 1000;
