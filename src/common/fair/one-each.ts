/**
 * Runs work of each caller one after another, and that of different callers side by side. For work that holds much: what
 * one caller has at once is then bounded, and garbage collection copies less.
 *
 * Work may ask for a rest of its caller after it. What it left to the garbage collector, or what one message brought to
 * this thread, stops everybody for some milliseconds at a moment that no turn can choose; so it must be rare.
 */
export class OneEach {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Number of callers with work. */
  get callers(): number {
    return this.#last.size;
  }

  /**
   * Runs work after all earlier work of its caller. Settles like the work; work that fails does not stop the next.
   * `restMs`: milliseconds after the work before the next of this caller begins.
   */
  async run<T>(caller: string, work: () => Promise<T>, restMs: (done: T) => number = () => 0): Promise<T> {
    const before = this.#last.get(caller) ?? Promise.resolve();
    const running = before.then(work);
    const settled = running.then(
      (done) => rest(restMs(done)),
      () => undefined,
    );
    this.#last.set(caller, settled);
    void settled.then(() => {
      if (this.#last.get(caller) === settled) this.#last.delete(caller);
    });
    return await running;
  }
}

function rest(ms: number): Promise<void> | undefined {
  return ms <= 0 ? undefined : new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
