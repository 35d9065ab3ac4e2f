/**
 * Runs work of each caller one after another, and that of different callers side by side. For work that holds much: what
 * one caller has at once is then bounded, and garbage collection copies less.
 */
export class OneEach {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Number of callers with work. */
  get callers(): number {
    return this.#last.size;
  }

  /** Runs work after all earlier work of its caller. Settles like the work; work that fails does not stop the next. */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(caller) ?? Promise.resolve();
    const running = before.then(work);
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(caller, settled);
    try {
      return await running;
    } finally {
      if (this.#last.get(caller) === settled) this.#last.delete(caller);
    }
  }
}
