/** Rows that are decided and not yet in the data file, in the order of the data file. */

import { storedKey } from '../rows.ts';
import type { Key, RangeQuery } from '../table.ts';
import { boundsOf } from '../table-reads.ts';

export interface OverlayRow {
  readonly key: Key;
  readonly stored: Buffer;
  /** Undefined: the row is removed. */
  readonly value: Buffer | undefined;
}

interface OverlayTable {
  readonly byKey: Map<string, OverlayRow>;
  /** By their stored keys. */
  readonly ordered: OverlayRow[];
}

export class Overlay {
  readonly #tables = new Map<string, OverlayTable>();

  /** Puts a row over the one in the data file; of several with one key the last one counts. */
  put(table: string, row: OverlayRow): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = { byKey: new Map(), ordered: [] };
      this.#tables.set(table, rows);
    }
    const name = nameOf(row.stored);
    const at = placeOf(rows.ordered, row.stored);
    rows.ordered.splice(at, rows.byKey.has(name) ? 1 : 0, row);
    rows.byKey.set(name, row);
  }

  /** The row over the one in the data file; undefined: there is none. */
  find(table: string, key: Key): OverlayRow | undefined {
    const rows = this.#tables.get(table);
    return rows?.byKey.get(nameOf(storedKey(key)));
  }

  /** The rows that a query without `skip` and `limit` finds, in its order, removed ones too. */
  within(table: string, query: RangeQuery): readonly OverlayRow[] {
    const rows = this.#tables.get(table)?.ordered;
    if (rows === undefined) return [];
    const { start, end, exclusiveStart, reverse } = boundsOf(query);
    const edge = (key: Key | undefined, otherwise: number, isAfter: boolean) =>
      key === undefined ? otherwise : placeOf(rows, storedKey(key), isAfter);
    // The start is included unless said otherwise, the end is not.
    return reverse
      ? rows.slice(edge(end, 0, true), edge(start, rows.length, exclusiveStart !== true)).toReversed()
      : rows.slice(edge(start, 0, exclusiveStart === true), edge(end, rows.length, false));
  }
}

const nameOf = (stored: Buffer): string => stored.toString('latin1');

/** Index of the first row whose key is not below this; with `isAfter`, of the first one above. */
function placeOf(rows: readonly OverlayRow[], stored: Buffer, isAfter = false): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = Buffer.compare((rows[middle] as OverlayRow).stored, stored);
    if (order < 0 || (isAfter && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
