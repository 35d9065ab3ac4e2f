/** Defines the types of tables, and of reads from them. A capability defines its tables; the store opens them. */
import type { Codec } from './codec.ts';
import type { Owners } from './owners.ts';
import { type HashedPart, type RowSums, sumsOf } from './row-sums.ts';

/** Parts of a key, ordered part by part: numbers by value, strings by bytes. */
export type Key = (string | number)[];

export interface Table<K extends Key, V> {
  readonly name: string;
  readonly codec: Codec<V>;
  readonly owners: Owners;
  /** Undefined: rows without checksums. */
  readonly sums: RowSums | undefined;
  /** Its rows are written again by nearly every decision of their owner, so a group of decisions writes each once. */
  readonly isHead?: true;
  /** Nearly every decision of an owner reads its keys, so a group of decisions walks them once. */
  readonly isWalked?: true;
  /** Type only: ties the table to its key shape. */
  readonly key?: K;
}

/** Any table, for lists of tables. */
// biome-ignore lint/suspicious/noExplicitAny: keys and values differ by table, and a list of tables reads neither.
export type AnyTable = Table<any, any>;

/** One put or remove of a decision. */
export interface Write {
  readonly table: AnyTable;
  readonly key: Key;
  /** The stored form. Absent: remove. */
  readonly bytes?: Buffer;
  /** What `bytes` were made of. */
  readonly value?: unknown;
}

export interface Entry<K extends Key, V> {
  readonly key: K;
  readonly value: V;
}

export interface RangeQuery {
  /** Limits the result to keys that begin with these parts. */
  readonly prefix: Key;
  /** Returns the greatest key first. */
  readonly reverse?: boolean;
  /** Limits the result to keys whose next part, or parts, are above this; with `reverse`, below this. */
  readonly beyond?: number | string | Key;
  /** Number of keys to skip first, at about 20 ns each. */
  readonly skip?: number;
  readonly limit?: number;
  /** Of a whole table, also rows whose first part a flipped bit has made null: no range shows them otherwise. */
  readonly withNull?: true;
}

export interface Reader {
  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined;
  range<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Entry<K, V>[];
  /** The stored bytes, not copied. The next read of any table overwrites the view: use it at once. */
  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined;
  /** The keys of a table that begin with `prefix`, in order, without reading values. */
  keys<K extends Key, V>(table: Table<K, V>, prefix?: Key): Generator<K>;
  /** Like `range`, one key at a time, without reading values. */
  keysIn<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<K>;
}

/** Reads row by row. */
export interface Walkable extends Pick<Reader, 'get' | 'range' | 'keysIn'> {
  /** One row at a time, in order. */
  entries<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<Entry<K, V>>;
}

/** Reads of one moment, unaffected by later writes. */
export interface Snapshot extends Walkable {
  /** Releases the snapshot. */
  close(): void;
}

/**
 * Defines a table of the data file. Two definitions with the same name read the same rows in different forms.
 * @param hashed the part of each value with a hash of its own: the checksum of the row leaves it out
 */
export function defineTable<K extends Key, V>(
  name: string,
  codec: Codec<V>,
  owners: Owners,
  hashed?: HashedPart,
): Table<K, V> {
  return { name, codec, owners, sums: sumsOf(name, hashed === undefined ? {} : { hashed }) };
}

/** Defines a table of heads or counters: rows that nearly every decision of their owner writes again. */
export function defineHeads<K extends Key, V>(name: string, codec: Codec<V>, owners: Owners): Table<K, V> {
  return { ...defineTable<K, V>(name, codec, owners), isHead: true };
}

/** Defines a table whose keys nearly every decision of their owner reads, and few write. */
export function defineWalked<K extends Key, V>(name: string, codec: Codec<V>, owners: Owners): Table<K, V> {
  return { ...defineTable<K, V>(name, codec, owners), isWalked: true };
}

/**
 * Defines a table whose rows have no checksum: bytes that another row has a hash of, or rows from before checksums, for
 * the migrations.
 */
export function defineUnsummedTable<K extends Key, V>(name: string, codec: Codec<V>, owners: Owners): Table<K, V> {
  return { name, codec, owners, sums: undefined };
}
