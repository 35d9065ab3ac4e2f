/**
 * Reads rows to verify the whole file: an unreadable record is a finding and does not end the check. Skips rows
 * still being imported or removed piece by piece.
 */
import { bytesCodec } from './codec.ts';
import { DamagedRow, keyText, openRow } from './row-sums.ts';
import type { Store } from './store.ts';
import { type AnyTable, defineUnsummedTable, type Entry, type Key, type Table } from './table.ts';

export class CheckedReader {
  readonly #store: Store;
  /** One sentence for each record that a walk could not read. */
  readonly problems: string[] = [];

  readonly #told = new Set<string>();
  readonly #hidden: ReadonlySet<string>;

  /** `hidden`: ids to skip. A row is skipped when its key or its `account_id` contains one. */
  constructor(store: Store, hidden: ReadonlySet<string> = new Set()) {
    this.#store = store;
    this.#hidden = hidden;
  }

  /** Every readable row of a table, in key order. Unreadable rows are added to `problems`. */
  *walk<K extends Key, V>(table: Table<K, V>): Generator<Entry<K, V>> {
    for (const key of this.keys(table)) {
      const value = this.#read(table, key);
      if (this.#isOfHidden(value)) continue;
      if (value !== undefined) yield { key, value };
    }
  }

  /** Calls `check` for every readable row of a table, in key order, guarded. */
  each<K extends Key, V>(table: Table<K, V>, check: (entry: Entry<K, V>) => void): void {
    for (const entry of this.walk(table)) this.guard(table, entry.key, () => check(entry));
  }

  /** Like `each`, without reading values. */
  eachKey<K extends Key, V>(table: Table<K, V>, check: (key: K) => void): void {
    for (const key of this.keys(table)) this.guard(table, key, () => check(key));
  }

  /** Runs the check of a row. One that throws is a problem of that row, so no row ends the check of the others. */
  guard(table: AnyTable, key: Key, check: () => void): void {
    try {
      check();
    } catch (error) {
      // Another reason could quote the content of the row.
      this.#tell(error instanceof DamagedRow ? error.sentence : `${nameOf(table, key)}: the record cannot be checked`);
    }
  }

  /** Checks the checksum of every row of a table, hidden rows too. */
  checkSums(table: AnyTable): void {
    const stored: Table<Key, Uint8Array> = defineUnsummedTable(table.name, bytesCodec, {});
    for (const key of this.#store.keysIn(stored, { prefix: [], withNull: true })) {
      if (typeof key[0] !== 'string' && typeof key[0] !== 'number') {
        this.#tell(`${nameOf(table, key)}: the key of the row is damaged`);
        continue;
      }
      if (table.sums === undefined) continue;
      this.guard(table, key, () => {
        const bytes = this.#store.view(stored, key);
        if (bytes === undefined) throw new DamagedRow(table.name, key);
        openRow(table, key, bytes);
      });
    }
  }

  /** The row of a key; undefined when it is missing or unreadable. An unreadable one is added to `problems`. */
  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    return this.#read(table, key);
  }

  *keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
    for (const key of this.#store.keys(table, prefix)) if (!this.#isHidden(key)) yield key;
  }

  /** Number of rows of a table. */
  count(table: AnyTable): number {
    let rows = 0;
    for (const _ of this.keys(table)) rows += 1;
    return rows;
  }

  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined {
    return this.#store.view(table, key);
  }

  #isHidden(key: Key): boolean {
    return this.#hidden.size > 0 && key.some((part) => typeof part === 'string' && this.#hidden.has(part));
  }

  /** True for a row of a hidden account whose id is in `account_id`, not in the key. */
  #isOfHidden(value: unknown): boolean {
    if (this.#hidden.size === 0 || typeof value !== 'object' || value === null) return false;
    const { account_id: owner } = value as { readonly account_id?: unknown };
    return typeof owner === 'string' && this.#hidden.has(owner);
  }

  #read<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    try {
      return this.#store.get(table, key);
    } catch (error) {
      this.#tell(error instanceof DamagedRow ? error.sentence : `${nameOf(table, key)}: the record cannot be read`);
      return undefined;
    }
  }

  /** Tells each problem once: several checks read the same row. */
  #tell(problem: string): void {
    if (this.#told.has(problem)) return;
    this.#told.add(problem);
    this.problems.push(problem);
  }
}

const nameOf = (table: AnyTable, key: Key): string => `${table.name} ${keyText(key)}`;
