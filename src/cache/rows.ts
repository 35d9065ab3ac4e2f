/**
 * Caches values derived from rows for as long as these rows are unchanged, whatever else in their table changes. A
 * commit that writes a row evicts the row's value before the write becomes visible, and no new one is stored until the
 * commit is over. So a cached value equals that of a current read, not of a snapshot.
 */
import { keyText } from '../store/row-sums.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable, Key } from '../store/table.ts';
import { Recent } from './recent.ts';

export interface KnownRowsOptions {
  /**
   * Number of leading key parts that a value belongs to, the owner first, at least two. All parts: a value of one row.
   * Fewer: a value of all rows that begin with them.
   */
  readonly parts: number;
  /** Maximum sum of the weights of all values. */
  readonly weightMax: number;
}

/** The parts of a key after the owner that a value belongs to: the only one, or several joined by spaces. */
type Name = string | number;

export class KnownRows<V> {
  readonly #known: Recent<V, Name>;
  /** Number of commits in flight that write rows of an owner and name. */
  readonly #writing = new Map<string, number>();

  constructor(store: Pick<Store, 'watch'>, table: AnyTable, { parts, weightMax }: KnownRowsOptions) {
    this.#known = new Recent(weightMax);
    store.watch(table, (keys: readonly Key[]) => {
      const written = new Map<string, Key>();
      for (const key of keys) written.set(parts === 2 ? `${key[0]} ${key[1]}` : keyText(key.slice(0, parts)), key);
      for (const [place, key] of written) {
        this.#known.remove(parts === 2 ? (key[1] as Name) : keyText(key.slice(1, parts)), String(key[0]));
        this.#writing.set(place, (this.#writing.get(place) ?? 0) + 1);
      }
      return () => {
        for (const place of written.keys()) this.#settle(place);
      };
    });
  }

  find(owner: string, name: Name): V | undefined {
    return this.#known.get(name, owner);
  }

  /** Caches a value derived from the store's current rows. Must be called in the turn in which they were read. */
  keep(owner: string, name: Name, value: V, weight: number): void {
    if (!this.#writing.has(`${owner} ${name}`)) this.#known.set(name, value, weight, owner);
  }

  #settle(place: string): void {
    const left = (this.#writing.get(place) ?? 1) - 1;
    if (left === 0) this.#writing.delete(place);
    else this.#writing.set(place, left);
  }
}
