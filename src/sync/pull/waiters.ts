/** Lets callers wait for a vault to change or be deleted. Holds no vault data; wakes all when the service drains. */
import { limits } from '../../limits/service.ts';
import type { Changes } from '../log/changes.ts';
import type { Vaults } from '../vaults/vaults.ts';

export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();
  #count = 0;
  #closed = false;

  constructor(changes: Changes, vaults: Pick<Vaults, 'onDeleted'>) {
    changes.listen((vaultId) => this.#wake(vaultId));
    vaults.onDeleted((vaultId) => this.#wake(vaultId));
  }

  /** Number of waiting callers. */
  get count(): number {
    return this.#count;
  }

  /**
   * Resolves true when the vault changes or is deleted; false after `ms` or when the caller leaves, and at once after
   * `close` or when `waitersMax` callers already wait.
   */
  next(vaultId: string, ms: number, gone: (notify: () => void) => void): Promise<boolean> {
    if (this.#closed || this.#count >= limits.waitersMax || ms <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(vaultId) ?? new Set();
      this.#waiting.set(vaultId, waiting);
      this.#count += 1;
      const end = (changed: boolean) => {
        if (!waiting.delete(changedNow)) return;
        this.#count -= 1;
        if (waiting.size === 0 && this.#waiting.get(vaultId) === waiting) this.#waiting.delete(vaultId);
        clearTimeout(timer);
        resolve(changed);
      };
      const changedNow = () => end(!this.#closed);
      const timer = setTimeout(() => end(false), ms);
      waiting.add(changedNow);
      gone(() => end(false));
    });
  }

  /** Wakes all waiting callers; later calls do not wait. */
  close(): void {
    this.#closed = true;
    for (const vaultId of this.#waiting.keys()) this.#wake(vaultId);
  }

  #wake(vaultId: string): void {
    for (const wake of this.#waiting.get(vaultId) ?? []) wake();
  }
}
