/**
 * Caches values derived from rows for as long as these rows are unchanged, whatever else in their table changes. A
 * commit that writes a row evicts the row's value before the write becomes visible, and no new one is stored until the
 * commit is over. So a cached value equals that of a current read, not of a snapshot.
 */
import type { Store } from '../store/store.ts';
import type { AnyTable, Key } from '../store/table.ts';
import { Recent } from './recent.ts';

export interface KnownRowsOptions {
  /**
   * Number of leading key parts that name a value, at least two. All parts: a value of one row. Fewer: a value of all
   * rows that begin with them.
   */
  readonly parts: number;
  /** Maximum sum of the weights of all values. */
  readonly weightMax: number;
}

interface Known<V> {
  readonly value: V;
  /** Revision of the owner's rows, for commits by another thread. */
  readonly revision: number;
}

export class KnownRows<V> {
  readonly #known: Recent<Known<V>>;
  readonly #revision: (name: string) => number | undefined;
  /** Number of commits in flight that write rows of a name. */
  readonly #writing = new Map<string, number>();

  constructor(store: Pick<Store, 'watch' | 'rowsRevision'>, table: AnyTable, { parts, weightMax }: KnownRowsOptions) {
    this.#known = new Recent(weightMax);
    this.#revision = (name) => store.rowsRevision(table, name.slice(0, name.indexOf(' ')));
    store.watch(table, (keys: readonly Key[]) => {
      const names = new Set(keys.map((key) => key.slice(0, parts).join(' ')));
      for (const name of names) this.#begin(name);
      return () => {
        for (const name of names) this.#settle(name);
      };
    });
  }

  /** Returns the cached value or undefined. `name`: the parts of the key, joined by spaces. */
  find(name: string): V | undefined {
    const known = this.#known.get(name);
    return known !== undefined && known.revision === this.#revision(name) ? known.value : undefined;
  }

  /** Caches a value derived from the store's current rows. Must be called in the turn in which they were read. */
  keep(name: string, value: V, weight: number): void {
    const revision = this.#revision(name);
    if (revision !== undefined && !this.#writing.has(name)) this.#known.set(name, { value, revision }, weight);
  }

  #begin(name: string): void {
    this.#known.remove(name);
    this.#writing.set(name, (this.#writing.get(name) ?? 0) + 1);
  }

  #settle(name: string): void {
    const left = (this.#writing.get(name) ?? 1) - 1;
    if (left === 0) this.#writing.delete(name);
    else this.#writing.set(name, left);
  }
}
