/**
 * Holds back the writes of rows that nearly every decision of an owner writes again: heads and counters. The decisions of
 * a group read them here, and only the last write of each reaches the data file, in the transaction of the group.
 */
import { memo, newMap } from '../common/memo.ts';
import { encodeRow, openRow } from './row-sums.ts';
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
    this.#bytes ??= encodeRow(this.table, this.key, this.#value);
    return this.#bytes;
  }
}

/** Writes by the number of parts of their keys, then by each part: no text is made of them. */
type ByPart = Map<Key[number], ByPart | Write>;

function findIn(rows: ByPart | undefined, key: Key): Write | undefined {
  let found: ByPart | Write | undefined = rows?.get(key.length);
  for (let at = 0; at < key.length && found !== undefined; at += 1)
    found = (found as ByPart).get(key[at] as Key[number]);
  return found as Write | undefined;
}

/** What is under a part of a key that is not the last one. */
function below(rows: ByPart, part: Key[number]): ByPart {
  return memo<Key[number], ByPart | Write>(rows, part, newMap<Key[number], ByPart | Write>) as ByPart;
}

function* writesIn(rows: ByPart): Generator<Write> {
  for (const row of rows.values()) {
    if (row instanceof Map) yield* writesIn(row);
    else yield row;
  }
}

/** A text that no other key of the table has, nor any part of one. */
function nameOf(key: Key): string {
  let name = '';
  for (const part of key) name += `${part}\u0000`;
  return name;
}

class HeldRows {
  readonly #tables = new Map<string, ByPart>();
  readonly #release: (write: Write) => void;
  /** Keys by table and prefix, as the decisions so far leave them. */
  readonly #walks = new Map<string, Map<string, readonly Key[]>>();

  /** `release`: writes a row to the data file. */
  constructor(release: (write: Write) => void) {
    this.#release = release;
  }

  /** Takes what a decision writes: such rows are held, all others released at once. */
  take(writes: readonly Write[]): void {
    for (const write of writes) {
      const { isWalked, isHead, name } = write.table;
      if (isWalked === true) this.#walks.delete(name);
      if (isHead === true) this.#hold(write);
      else this.#release(write);
    }
  }

  /** Holds a write in place of an earlier one of the same row. */
  #hold(write: Write): void {
    const { table, key } = write;
    const last = key.length - 1;
    let rows = below(memo(this.#tables, table.name, newMap<Key[number], ByPart | Write>), key.length);
    for (let at = 0; at < last; at += 1) rows = below(rows, key[at] as Key[number]);
    rows.set(key[last] as Key[number], write);
  }

  /** The write of a row that the data file does not have yet. */
  find({ name }: Pick<AnyTable, 'name'>, key: Key): Write | undefined {
    return findIn(this.#tables.get(name), key);
  }

  /** Releases what is held of a table, before its rows are read in order. */
  releaseTable({ name }: Pick<AnyTable, 'name'>): void {
    const rows = this.#tables.get(name);
    if (rows === undefined) return;
    this.#tables.delete(name);
    for (const write of writesIn(rows)) this.#release(write);
  }

  /** The keys of a table with a prefix; `walk` reads them when no earlier decision did, or one wrote such a row since. */
  walked({ name }: Pick<AnyTable, 'name'>, prefix: Key, walk: () => Iterable<Key>): readonly Key[] {
    return memo(memo(this.#walks, name, newMap<string, readonly Key[]>), nameOf(prefix), () => [...walk()]);
  }

  releaseAll(): void {
    for (const name of this.#tables.keys()) this.releaseTable({ name });
  }
}

/** Reads of the open transaction, with the rows that are held back. */
function readerOver(held: HeldRows, reader: Reader): Reader {
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
    keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
      if (table.isWalked !== true) return ordered(table, () => reader.keys(table, prefix));
      return each(held.walked(table, prefix, () => reader.keys(table, prefix)) as readonly K[]);
    },
    keysIn: (table, query) => ordered(table, () => reader.keysIn(table, query)),
  };
}

function* each<K>(keys: readonly K[]): Generator<K> {
  yield* keys;
}

/** Runs decisions whose heads are held back. `release` gets what they write, in an order that leaves the same rows. */
export function decideHeld(
  reader: Reader,
  release: (write: Write) => void,
  decide: (view: { readonly reader: Reader; readonly write: (writes: readonly Write[]) => void }) => void,
): void {
  const held = new HeldRows(release);
  decide({ reader: readerOver(held, reader), write: (writes) => held.take(writes) });
  held.releaseAll();
}
