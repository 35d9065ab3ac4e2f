/** Reads rows of the open tables from the last commit, or from the write transaction in progress. */
import type { Transaction } from 'lmdb';
import { DamagedRow, openRow } from './row-sums.ts';
import type { AnyTable, Entry, Key, RangeQuery, Reader, Snapshot, Table } from './table.ts';
import type { Raw } from './transaction.ts';

export class TableReads implements Reader {
  readonly #tables: ReadonlyMap<string, Raw>;
  readonly #onDamaged: (row: DamagedRow) => void;

  /** `onDamaged`: called with each damaged row that is read, before the reader gets the error. */
  constructor(tables: ReadonlyMap<string, Raw>, onDamaged: (row: DamagedRow) => void = () => undefined) {
    this.#tables = tables;
    this.#onDamaged = onDamaged;
  }

  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    const bytes = this.#fastView(table, key);
    return bytes === undefined ? undefined : table.codec.decode(this.#open(table, key, bytes));
  }

  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined {
    const bytes = this.#fastView(table, key);
    return bytes && this.#open(table, key, bytes);
  }

  range<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Entry<K, V>[] {
    return [...this.entries(table, query)];
  }

  /** Like `range`, but one entry at a time over one snapshot; for results too large for an array. */
  *entries<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<Entry<K, V>> {
    const raw = this.#tables.get(table.name);
    if (raw === undefined) return;
    for (const { key: stored, value } of raw.getRange(boundsOf(query))) {
      const key = parts<K>(stored);
      yield { key, value: table.codec.decode(this.#open(table, key, value)) };
    }
  }

  keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
    return this.keysIn(table, { prefix });
  }

  *keysIn<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<K> {
    const raw = this.#tables.get(table.name);
    if (raw === undefined) return;
    for (const key of raw.getKeys(boundsOf(query))) yield parts(key);
  }

  lastKey<K extends Key, V>(table: Table<K, V>): K | undefined {
    for (const key of this.#tables.get(table.name)?.getKeys({ reverse: true, limit: 1 }) ?? []) return parts(key);
    return undefined;
  }

  #open(table: AnyTable, key: Key, stored: Uint8Array): Uint8Array {
    try {
      return openRow(table, key, stored);
    } catch (error) {
      if (error instanceof DamagedRow) this.#onDamaged(error);
      throw error;
    }
  }

  /** The library's reused read buffer reports the value's length, but views of it ignore that. So cut the view here. */
  #fastView(table: AnyTable, key: Key): Uint8Array | undefined {
    const bytes = this.#tables.get(table.name)?.getBinaryFast(key);
    return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}

/** The key encoding decodes a one-part key as a bare part, not an array. */
function parts<K extends Key>(key: unknown): K {
  return (Array.isArray(key) ? key : [key]) as K;
}

/** Translates a query to LMDB's bounds: forward `start` is inclusive, in reverse `start` is the upper end. */
export function boundsOf({ prefix, beyond, reverse = false, skip, limit, withNull }: RangeQuery) {
  const window = {
    reverse,
    ...(skip === undefined ? {} : { offset: skip }),
    ...(limit === undefined ? {} : { limit }),
  };
  if (prefix.length === 0 && beyond === undefined) return Object.assign(window, withNull === true ? WITH_NULL : WHOLE);
  const edge = beyond === undefined ? undefined : [...prefix, ...[beyond].flat()];
  const [low, high] = [prefix, [...prefix, AFTER_ALL]];
  const [start, end] = reverse ? [edge ?? high, low] : [edge ?? low, high];
  return { start, end, exclusiveStart: edge !== undefined, ...window };
}

/** Bounds of a whole table. */
const WHOLE: { readonly start?: Key; readonly end?: Key; readonly exclusiveStart?: boolean } = {};

/** The library leaves keys out that sort before false, unless it is given a start. Null sorts first, and is in no key of ours. */
const WITH_NULL = { ...WHOLE, start: [null] as unknown as Key };

/** Sorts after every string part in the ordered key encoding. */
const AFTER_ALL = '\u{10ffff}';

/** Called with a row whose bytes its table cannot decode. */
export type OnUnreadable = (table: string, key: Key) => void;

/**
 * Reads of one snapshot, unaffected by later writes, until it is closed. With `onUnreadable`, a row that cannot be
 * decoded is passed to it and reads as missing; without, reading it throws.
 */
export function snapshotOf(
  tables: ReadonlyMap<string, Raw>,
  transaction: Transaction,
  onUnreadable?: OnUnreadable,
): Snapshot {
  const decode = <K extends Key, V>(table: Table<K, V>, key: Key, bytes: Uint8Array): V | undefined => {
    if (onUnreadable === undefined) return table.codec.decode(openRow(table, key, bytes));
    try {
      return table.codec.decode(openRow(table, key, bytes));
    } catch {
      // The key says which row it is; the error of the decoder adds nothing useful.
      onUnreadable(table.name, key);
      return undefined;
    }
  };
  return {
    get(table, key) {
      const bytes = tables.get(table.name)?.get(key, { transaction });
      return bytes === undefined ? undefined : decode(table, key, bytes);
    },
    *entries<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<Entry<K, V>> {
      for (const { key, value: bytes } of tables.get(table.name)?.getRange({ transaction, ...boundsOf(query) }) ?? []) {
        const value = decode(table, parts(key), bytes);
        if (value !== undefined) yield { key: parts(key), value };
      }
    },
    range(table, query) {
      return [...this.entries(table, query)];
    },
    *keysIn<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<K> {
      for (const key of tables.get(table.name)?.getKeys({ transaction, ...boundsOf(query) }) ?? []) yield parts(key);
    },
    close: () => transaction.done(),
  };
}
