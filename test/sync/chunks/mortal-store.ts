/** A store as one process sees it that may be killed between any two of its writes: no later one happens, and none is answered. */
import type { Store } from '../../../src/store/store.ts';

/** What writes; the rest only reads. */
const WRITES = new Set<PropertyKey>(['write', 'writeBytes']);

export class MortalStore {
  readonly store: Store;
  /** Resolves when the process is killed. */
  readonly killed: Promise<void>;
  #left = Number.POSITIVE_INFINITY;
  #noteKilled: () => void = () => undefined;

  constructor(store: Store) {
    this.killed = new Promise((resolve) => {
      this.#noteKilled = resolve;
    });
    this.store = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return WRITES.has(name) ? this.#mortal(value.bind(target)) : value.bind(target);
      },
    });
  }

  /** Kills the process after so many more writes. */
  killAfter(writes: number): void {
    this.#left = writes;
    if (writes <= 0) this.#noteKilled();
  }

  get isKilled(): boolean {
    return this.#left <= 0;
  }

  #mortal(write: (...args: unknown[]) => Promise<unknown>) {
    return (...args: unknown[]): Promise<unknown> => {
      if (this.isKilled) return new Promise(() => undefined);
      this.#left -= 1;
      const isLast = this.#left <= 0;
      const written = write(...args);
      if (isLast) void written.catch(() => undefined).then(this.#noteKilled);
      return new Promise((resolve, reject) => {
        written.then(
          (value) => this.isKilled || resolve(value),
          (error: unknown) => this.isKilled || reject(error as Error),
        );
      });
    };
  }
}
