/** Owns how very many rows are removed: a bounded number with each commit, so that others get their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../limits/service.ts';
import { SWEEP } from './owners.ts';
import type { Store } from './store.ts';
import type { Key, Table } from './table.ts';

/** Removes the rows whose keys begin with `prefix`. */
export async function removeRows<K extends Key, V>(store: Store, table: Table<K, V>, prefix: Key): Promise<void> {
  for (;;) {
    const due: K[] = [];
    for (const key of store.keys(table, prefix)) {
      if (due.push(key) === limits.rowsRemovedMax) break;
    }
    if (due.length === 0) return;
    await removeKeys(store, table, due);
  }
}

/** Removes the rows whose keys hold this part at any place. It looks at every key of the table, in short turns. */
export async function removeRowsOf<K extends Key, V>(store: Store, table: Table<K, V>, part: string): Promise<void> {
  const due: K[] = [];
  let looked = 0;
  for (const key of store.keys(table)) {
    if (key.includes(part)) due.push(key);
    looked += 1;
    if (looked % limits.rowsRemovedMax === 0) await nextTurn();
  }
  for (let at = 0; at < due.length; at += limits.rowsRemovedMax) {
    await removeKeys(store, table, due.slice(at, at + limits.rowsRemovedMax));
  }
}

/** Removes the rows of a table that `isOne` is true for. It reads every row of the table, in short turns. */
export async function removeRowsWhere<K extends Key, V>(
  store: Store,
  table: Table<K, V>,
  isOne: (row: V) => boolean,
): Promise<void> {
  const due: K[] = [];
  let looked = 0;
  for (const { key, value } of store.entries(table, { prefix: [] })) {
    if (isOne(value)) due.push(key);
    looked += 1;
    if (looked % limits.rowsRemovedMax === 0) await nextTurn();
  }
  for (let at = 0; at < due.length; at += limits.rowsRemovedMax) {
    await removeKeys(store, table, due.slice(at, at + limits.rowsRemovedMax));
  }
}

async function removeKeys<K extends Key, V>(store: Store, table: Table<K, V>, due: readonly K[]): Promise<void> {
  await store.write(SWEEP, (batch): void => {
    for (const key of due) batch.remove(table, key);
  });
}
