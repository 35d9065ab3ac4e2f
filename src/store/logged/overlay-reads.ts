/** Reads the data file as if the rows of an overlay were in it. */
import { openRow } from '../row-sums.ts';
import { storedKey } from '../rows.ts';
import type { Entry, Key, RangeQuery, Reader, Table } from '../table.ts';
import type { TableReads } from '../table-reads.ts';
import type { Overlay, OverlayRow } from './overlay.ts';

export class OverlayReads implements Reader {
  readonly #base: TableReads;
  readonly #overlay: Overlay;

  constructor(base: TableReads, overlay: Overlay) {
    this.#base = base;
    this.#overlay = overlay;
  }

  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    const row = this.#overlay.find(table.name, key);
    return row === undefined ? this.#base.get(table, key) : readRow(table, row);
  }

  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined {
    const row = this.#overlay.find(table.name, key);
    if (row === undefined) return this.#base.view(table, key);
    return row.value && openRow(table, key, row.value);
  }

  range<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Entry<K, V>[] {
    const over = this.#overlay.within(table.name, query);
    if (over.length === 0) return this.#base.range(table, query);
    const base = this.#base.entries(table, whole(query));
    const merged = merge(base, over, query, ({ key }) => key);
    return [...cut(merged, query)].map((item) =>
      'stored' in item ? { key: item.key as K, value: readRow(table, item) as V } : item,
    );
  }

  keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
    return this.keysIn(table, { prefix });
  }

  *keysIn<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<K> {
    const over = this.#overlay.within(table.name, query);
    if (over.length === 0) {
      yield* this.#base.keysIn(table, query);
      return;
    }
    const base = this.#base.keysIn(table, whole(query));
    for (const item of cut(
      merge(base, over, query, (key) => key),
      query,
    ))
      yield keyOf<K>(item);
  }
}

const readRow = <V>(table: Table<Key, V>, { key, value }: OverlayRow): V | undefined =>
  value && table.codec.decode(openRow(table, key, value));

const keyOf = <K extends Key>(item: K | OverlayRow): K => (Array.isArray(item) ? item : (item.key as K));

const whole = ({ skip: _skip, limit: _limit, ...query }: RangeQuery): RangeQuery => query;

function* cut<T>(items: Iterable<T>, { skip = 0, limit = Number.POSITIVE_INFINITY }: RangeQuery): Generator<T> {
  let at = 0;
  if (limit === 0) return;
  for (const item of items) {
    at += 1;
    if (at > skip) yield item;
    if (at >= skip + limit) return;
  }
}

/** What both have, in the order of the query. A row of the overlay replaces the one with its key, or removes it. */
function* merge<T>(
  base: Iterable<T>,
  over: readonly OverlayRow[],
  { reverse = false }: RangeQuery,
  keyOfItem: (item: T) => Key,
): Generator<T | OverlayRow> {
  const direction = reverse ? -1 : 1;
  let at = 0;
  for (const item of base) {
    const stored = storedKey(keyOfItem(item));
    let row = over[at];
    let order = 1;
    while (row !== undefined) {
      order = direction * Buffer.compare(row.stored, stored);
      if (order > 0) break;
      if (row.value !== undefined) yield row;
      at += 1;
      if (order === 0) break;
      row = over[at];
    }
    if (row === undefined || order !== 0) yield item;
  }
  for (const row of over.slice(at)) if (row.value !== undefined) yield row;
}
