/**
 * Holds back the writes of rows that nearly every decision of an owner writes again: heads and counters. The decisions of
 * a group read them here, and only the last write of each reaches the data file, in the transaction of the group.
 */
import { openRow, sealRow } from './row-sums.ts';
import type { AnyTable, Key, Reader, Table, Write } from './table.ts';

/**
 * A put of such a row. Its value is encoded when it is written, once for a group. Whoever puts or reads it has an object
 * of its own, as with a row that is encoded and decoded: a decision that changes the object and then throws leaves nothing.
 */
export class HeadPut<V> implements Write {
  /** Counted for a put that is not encoded yet: no head has more. */
  static readonly bytesMax = 128;
  readonly table: Table<Key, V>;
  readonly key: Key;
  readonly #value: V;
  #bytes: Buffer | undefined;

  constructor(table: Table<Key, V>, key: Key, value: V) {
    this.table = table;
    this.key = key;
    this.#value = { ...value };
  }

  get value(): V {
    return { ...this.#value };
  }

  get bytes(): Buffer {
    this.#bytes ??= sealRow(this.table, this.key, this.table.codec.encode(this.#value));
    return this.#bytes;
  }
}

const nameOf = (key: Key): string => (key.length === 1 ? String(key[0]) : key.join('\u0000'));

export class HeldRows {
  readonly #tables = new Map<string, Map<string, Write>>();
  readonly #release: (write: Write) => void;

  /** `release`: writes a row to the data file. */
  constructor(release: (write: Write) => void) {
    this.#release = release;
  }

  /** Holds a write of such a table, in place of an earlier one of the same row. */
  hold(write: Write): void {
    let rows = this.#tables.get(write.table.name);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(write.table.name, rows);
    }
    rows.set(nameOf(write.key), write);
  }

  /** The write of a row that the data file does not have yet. */
  find({ name }: Pick<AnyTable, 'name'>, key: Key): Write | undefined {
    return this.#tables.get(name)?.get(nameOf(key));
  }

  /** Releases what is held of a table, before its rows are read in order. */
  releaseTable({ name }: Pick<AnyTable, 'name'>): void {
    const rows = this.#tables.get(name);
    if (rows === undefined) return;
    this.#tables.delete(name);
    for (const write of rows.values()) this.#release(write);
  }

  releaseAll(): void {
    for (const name of this.#tables.keys()) this.releaseTable({ name });
  }
}

/** Reads of the open transaction, with the rows that are held back. */
export function readerOver(held: HeldRows, reader: Reader): Reader {
  const ordered = <T>(table: AnyTable, read: () => T): T => {
    held.releaseTable(table);
    return read();
  };
  return {
    get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
      const write = held.find(table, key);
      if (write === undefined) return reader.get(table, key);
      if (write instanceof HeadPut) return write.value as V;
      return write.bytes && table.codec.decode(openRow(table, key, write.bytes));
    },
    view: (table, key) => ordered(table, () => reader.view(table, key)),
    range: (table, query) => ordered(table, () => reader.range(table, query)),
    keys: (table, prefix) => ordered(table, () => reader.keys(table, prefix)),
    keysIn: (table, query) => ordered(table, () => reader.keysIn(table, query)),
  };
}
