/**
 * Reads for a check of the whole file: a record that cannot be read is a finding, not the end of the check. What is still
 * being written or removed piece by piece, and belongs to nobody yet, is passed over.
 */
import type { Store } from './store.ts';
import type { AnyTable, Entry, Key, Table } from './table.ts';

export class CheckedReader {
  readonly #store: Store;
  /** One sentence for each record that a walk could not read. */
  readonly problems: string[] = [];

  readonly #hidden: ReadonlySet<string>;

  /** `hidden`: ids that no row is shown of whose key, or whose `account_id`, is one. */
  constructor(store: Store, hidden: ReadonlySet<string> = new Set()) {
    this.#store = store;
    this.#hidden = hidden;
  }

  /** Every readable row of a table in order; the others are noted. */
  *walk<K extends Key, V>(table: Table<K, V>): Generator<Entry<K, V>> {
    for (const key of this.keys(table)) {
      const value = this.#read(table, key);
      if (this.#isOfHidden(value)) continue;
      if (value === undefined) this.problems.push(`${table.name} ${key.join(' ')}: the record cannot be read`);
      else yield { key, value };
    }
  }

  /** The row of a key; undefined when there is none that can be read. */
  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    return this.#read(table, key);
  }

  *keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
    for (const key of this.#store.keys(table, prefix)) if (!this.#isHidden(key)) yield key;
  }

  /** How many rows a table has. */
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

  /** Rows that belong to an account without having its id in their key. */
  #isOfHidden(value: unknown): boolean {
    if (this.#hidden.size === 0 || typeof value !== 'object' || value === null) return false;
    const { account_id: owner } = value as { readonly account_id?: unknown };
    return typeof owner === 'string' && this.#hidden.has(owner);
  }

  #read<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    try {
      return this.#store.get(table, key);
    } catch {
      // What exactly is wrong with the bytes helps nobody; which record it is, does.
      return undefined;
    }
  }
}
