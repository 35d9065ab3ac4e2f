/**
 * Owns what was made of rows and is used again for as long as these rows stay as they are, whatever else of their table
 * changes. A commit that writes a row makes what was made of it forgotten before the write can be seen, and nothing is made of
 * that row again until the commit is over. So it is what a read of now would give, and not what a snapshot would.
 */
import type { Store } from '../store/store.ts';
import type { AnyTable, Key } from '../store/table.ts';
import { Recent } from './recent.ts';

export interface KnownRowsOptions {
  /** How many parts of a key name one value, at least two: all of them for one row, fewer for all rows that begin with them. */
  readonly parts: number;
  /** The sum of the weights of all values. */
  readonly weightMax: number;
}

interface Known<V> {
  readonly value: V;
  /** Of the owner's rows, where another thread commits. */
  readonly revision: number;
}

export class KnownRows<V> {
  readonly #known: Recent<Known<V>>;
  readonly #revision: (name: string) => number | undefined;
  /** How many commits under way write rows of a name. */
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

  /** `name`: the parts of the key, joined by spaces. */
  find(name: string): V | undefined {
    const known = this.#known.get(name);
    return known !== undefined && known.revision === this.#revision(name) ? known.value : undefined;
  }

  /** Takes in what was just made of the store's current rows; in the turn in which they were read. */
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
