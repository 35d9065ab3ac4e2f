/** Removes large numbers of rows: a bounded number per commit, so other writers get their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../limits/service.ts';
import { intactEntries } from './intact.ts';
import { SWEEP } from './owners.ts';
import type { Store } from './store.ts';
import type { AnyTable, Entry, Key, Table } from './table.ts';

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

/** Removes the rows of a table that belong to an account, as the owners declared by the table say. */
export async function removeRowsOwnedBy(store: Store, table: AnyTable, accountId: string): Promise<void> {
  const owned = table.owners.account;
  if (owned === 0) await removeRows(store, table, [accountId]);
  else if (typeof owned === 'number') {
    // The key names the account, but not first.
    await removeChosen(store, table, store.keys(table), (key: Key) => (key.includes(accountId) ? key : undefined));
  } else if (typeof owned === 'object') {
    const rows: Iterable<Entry<Key, Record<string, unknown>>> = intactEntries(store, table, { prefix: [] });
    await removeChosen(store, table, rows, ({ key, value }) => (value[owned.member] === accountId ? key : undefined));
  }
}

/** Scans all items in short turns, then removes the rows whose keys `keyOf` returned. */
async function removeChosen<K extends Key, V, T>(
  store: Store,
  table: Table<K, V>,
  items: Iterable<T>,
  keyOf: (item: T) => K | undefined,
): Promise<void> {
  const due: K[] = [];
  let looked = 0;
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) due.push(key);
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
