/**
 * Caches values derived from rows for as long as these rows are unchanged, whatever else in their table changes. A
 * commit that writes a row evicts the row's value before the write becomes visible, and no new one is stored until the
 * commit is over. So a cached value equals that of a current read, not of a snapshot.
 */
import { memo, newMap } from '../common/memo.ts';
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
  readonly #writing = new Map<string, Map<Name, number>>();

  constructor(store: Pick<Store, 'watch'>, table: AnyTable, { parts, weightMax }: KnownRowsOptions) {
    this.#known = new Recent(weightMax);
    const nameOf = (key: Key) => (parts === 2 ? (key[1] as Name) : keyText(key.slice(1, parts)));
    store.watch(table, (keys: readonly Key[]) => {
      const written = namesOf(keys, nameOf);
      for (const [owner, names] of written) for (const name of names) this.#begin(owner, name);
      return () => {
        for (const [owner, names] of written) for (const name of names) this.#settle(owner, name);
      };
    });
  }

  find(owner: string, name: Name): V | undefined {
    return this.#known.get(name, owner);
  }

  /** Caches a value derived from the store's current rows. Must be called in the turn in which they were read. */
  keep(owner: string, name: Name, value: V, weight: number): void {
    if (this.#writing.get(owner)?.has(name) !== true) this.#known.set(name, value, weight, owner);
  }

  #begin(owner: string, name: Name): void {
    this.#known.remove(name, owner);
    const writing = memo(this.#writing, owner, newMap<Name, number>);
    writing.set(name, (writing.get(name) ?? 0) + 1);
  }

  #settle(owner: string, name: Name): void {
    const writing = this.#writing.get(owner);
    if (writing === undefined) return;
    const left = (writing.get(name) ?? 1) - 1;
    if (left > 0) writing.set(name, left);
    else writing.delete(name);
    if (writing.size === 0) this.#writing.delete(owner);
  }
}

/** The names of the rows that a commit writes, once each, by owner: most are of one owner, and many of one name. */
function namesOf(keys: readonly Key[], nameOf: (key: Key) => Name): ReadonlyMap<string, ReadonlySet<Name>> {
  const written = new Map<string, Set<Name>>();
  let last: Key[number] | undefined;
  let names = new Set<Name>();
  for (const key of keys) {
    if (key[0] !== last) {
      last = key[0];
      names = memo(written, String(last), newSet);
    }
    names.add(nameOf(key));
  }
  return written;
}

const newSet = () => new Set<Name>();
