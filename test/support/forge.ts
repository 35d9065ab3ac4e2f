/** Writes rows past their owners, as a test needs it that damages a file or makes one of an earlier time. */
import type { Batch } from '../../src/store/group-commit.ts';
import { HUB } from '../../src/store/owners.ts';
import type { Store } from '../../src/store/store.ts';
import type { Key, Table } from '../../src/store/table.ts';

/** Runs a change in one commit; resolves once it is on disk. */
export async function forge(store: Store, change: (batch: Batch) => void): Promise<void> {
  await store.write(HUB, (batch): void => {
    change({
      get: (table, key) => batch.get(table, key),
      range: (table, query) => batch.range(table, query),
      view: (table, key) => batch.view(table, key),
      keys: (table, prefix) => batch.keys(table, prefix),
      put: (table, key, value) => batch.put(anyones(table), key, value),
      remove: (table, key) => batch.remove(anyones(table), key),
    });
  });
}

function anyones<K extends Key, V>(table: Table<K, V>): Table<K, V> {
  return { ...table, owners: { hub: 'any' } };
}
