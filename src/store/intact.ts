/**
 * Reads for which a damaged row is as good as none: what the start needs, and what has another source. The store has told
 * of the row.
 */
import { DamagedRow } from './row-sums.ts';
import type { Entry, Key, RangeQuery, Reader, Table } from './table.ts';

/** The row of a key; undefined when it is missing or damaged. */
export function intact<K extends Key, V>(reader: Pick<Reader, 'get'>, table: Table<K, V>, key: K): V | undefined {
  try {
    return reader.get(table, key);
  } catch (error) {
    if (error instanceof DamagedRow) return undefined;
    throw error;
  }
}

/** Like `intact`, without copying the bytes; see `Reader.view`. */
export function intactView<K extends Key>(
  reader: Pick<Reader, 'view'>,
  table: Table<K, Uint8Array>,
  key: K,
): Uint8Array | undefined {
  try {
    return reader.view(table, key);
  } catch (error) {
    if (error instanceof DamagedRow) return undefined;
    throw error;
  }
}

/** The entries of a range whose rows are not damaged. */
export function* intactEntries<K extends Key, V>(
  reader: Pick<Reader, 'get' | 'keysIn'>,
  table: Table<K, V>,
  query: RangeQuery,
): Generator<Entry<K, V>> {
  for (const key of reader.keysIn(table, query)) {
    const value = intact(reader, table, key);
    if (value !== undefined) yield { key, value };
  }
}

/** True for a row that exists, damaged or not. */
export function isThere<K extends Key, V>(reader: Pick<Reader, 'get'>, table: Table<K, V>, key: K): boolean {
  try {
    return reader.get(table, key) !== undefined;
  } catch (error) {
    if (error instanceof DamagedRow) return true;
    throw error;
  }
}

/**
 * What work resolves with; `otherwise` when a damaged row ended it. So the row of one account, or vault, does not end work
 * for all of them.
 */
export async function unlessDamaged<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DamagedRow) return otherwise;
    throw error;
  }
}
