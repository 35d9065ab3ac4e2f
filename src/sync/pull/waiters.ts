/** Lets callers wait for a vault to change or be deleted. Holds no vault data; wakes all when the service drains. */
import { limits } from '../../limits/service.ts';
import type { Changes } from '../../live/changes.ts';

export class Waiters {
  readonly #changes: Changes;
  readonly #waiting = new Set<(changed: boolean) => void>();
  #closed = false;

  /** `changes`: of the tables that every change of a vault and its deletion write. */
  constructor(changes: Changes) {
    this.#changes = changes;
  }

  get count(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves true when the vault changes or is deleted; false after `ms` or when the caller leaves, and at once after
   * `close` or when `waitersMax` callers already wait.
   */
  next(vaultId: string, ms: number, gone: (notify: () => void) => void): Promise<boolean> {
    if (this.#closed || this.#waiting.size >= limits.waitersMax || ms <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (changed: boolean) => {
        this.#waiting.delete(end);
        stop();
        clearTimeout(timer);
        resolve(changed);
      };
      const stop = this.#changes.watch(vaultId, () => end(true));
      const timer = setTimeout(() => end(false), ms);
      this.#waiting.add(end);
      gone(() => end(false));
    });
  }

  /** Wakes all waiting callers; later calls do not wait. */
  close(): void {
    this.#closed = true;
    for (const end of Array.from(this.#waiting)) end(false);
  }
}
