/**
 * Caches values derived from rows for as long as these rows are unchanged, whatever else in their table changes. A
 * commit that writes a row evicts the row's value before the write becomes visible, and no new one is stored until the
 * commit is over. So a cached value equals that of a current read, not of a snapshot.
 */
import { memo } from '../common/memo.ts';
import { keyText } from '../store/row-sums.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable, Key } from '../store/table.ts';
import { Recent } from './recent.ts';

export interface KnownRowsOptions<V> {
  /**
   * Number of leading key parts that a value belongs to, the owner first, at least two. All parts: a value of one row.
   * Fewer: a value of all rows that begin with them.
   */
  readonly parts: number;
  /** Maximum sum of the weights of all values. */
  readonly weightMax: number;
  /** Makes the value of one row of what the row is made of, which is cached as soon as it is written. Default: none is. */
  readonly made?: (row: unknown) => { readonly value: V; readonly weight: number };
}

/** The parts of a key after the owner that a value belongs to: the only one, or several joined by spaces. */
type Name = string | number;

/** The names of rows, by owner. */
type Written = ReadonlyMap<string, ReadonlySet<Name>>;

export class KnownRows<V> {
  readonly #known: Recent<V, Name>;
  /** What each commit in flight writes. */
  #writing: readonly Written[] = [];

  constructor(store: Pick<Store, 'watch'>, table: AnyTable, { parts, weightMax, made }: KnownRowsOptions<V>) {
    this.#known = new Recent(weightMax);
    const nameOf = (key: Key) => (parts === 2 ? (key[1] as Name) : keyText(key.slice(1, parts)));
    store.watch(table, (keys, values) => {
      const written = namesOf(keys, nameOf);
      for (const [owner, names] of written) for (const name of names) this.#known.remove(name, owner);
      this.#writing = [...this.#writing, written];
      return (isWritten) => {
        this.#writing = this.#writing.filter((one) => one !== written);
        if (!isWritten || made === undefined) return;
        // Of several writes of a row in one commit the last one counts.
        for (const [at, key] of keys.entries()) this.#take(String(key[0]), nameOf(key), values[at], made);
      };
    });
  }

  find(owner: string, name: Name): V | undefined {
    return this.#known.get(name, owner);
  }

  /** Caches a value derived from the store's current rows. Must be called in the turn in which they were read. */
  keep(owner: string, name: Name, value: V, weight: number): void {
    if (this.#writing.some((written) => written.get(owner)?.has(name) === true)) return;
    this.#known.set(name, value, weight, owner);
  }

  /** Caches what is made of a written row; undefined: it was removed, or only its bytes are known. */
  #take(owner: string, name: Name, row: unknown, made: NonNullable<KnownRowsOptions<V>['made']>): void {
    if (row === undefined) {
      this.#known.remove(name, owner);
      return;
    }
    const { value, weight } = made(row);
    this.keep(owner, name, value, weight);
  }
}

/** The names of the rows that a commit writes, once each, by owner: most are of one owner, and many of one name. */
function namesOf(keys: readonly Key[], nameOf: (key: Key) => Name): Written {
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
