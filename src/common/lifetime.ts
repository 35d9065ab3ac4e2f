/** Closes the parts of a service in the reverse order of their opening, each once, and names the one that hangs. */
import type { Log } from './log.ts';

/** A part still open after this is named in the log. */
const PATIENCE_MS = 10_000;

interface Part {
  readonly name: string;
  readonly close: () => unknown;
  readonly patienceMs: number;
}

export class Lifetime {
  readonly #log: Pick<Log, 'warn' | 'error'>;
  readonly #open: Part[] = [];
  #ended: Promise<void> | undefined;

  constructor(log: Pick<Log, 'warn' | 'error'>) {
    this.#log = log;
  }

  /** Registers a part that was just opened, and returns it. */
  own<T extends { close(): unknown }>(name: string, part: T): T {
    this.onEnd(name, () => part.close());
    return part;
  }

  /** Registers how a part is closed. It is named in the log when that takes longer than `patienceMs`. */
  onEnd(name: string, close: () => unknown, patienceMs = PATIENCE_MS): void {
    this.#open.push({ name, close, patienceMs });
  }

  /**
   * Closes the parts, the last one first, and waits for each. A part that fails is logged and does not stop the others;
   * then rejects with the first error. Further calls return the same promise.
   */
  end(): Promise<void> {
    this.#ended ??= this.#closeAll();
    return this.#ended;
  }

  async #closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (let part = this.#open.pop(); part !== undefined; part = this.#open.pop()) {
      const { name, patienceMs, close } = part;
      const overdue = setTimeout(() => {
        this.#log.warn({ part: name }, 'stopping waits for a part that has not closed');
      }, patienceMs);
      try {
        await close();
      } catch (error) {
        this.#log.error({ err: error, part: name }, 'a part failed to close');
        errors.push(error);
      } finally {
        clearTimeout(overdue);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
