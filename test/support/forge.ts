/** Writes rows past their owners, as a test needs it that damages a file or makes one of an earlier time. */

import { bytesCodec, recordCodec } from '../../src/store/codec.ts';
import type { Batch } from '../../src/store/group-commit.ts';
import { type MetaRow, meta } from '../../src/store/meta/meta.ts';
import { HUB, UPGRADE } from '../../src/store/owners.ts';
import type { Store } from '../../src/store/store.ts';
import { type AnyTable, defineUnsummedTable, type Key, type Table } from '../../src/store/table.ts';

/** Runs a change in one commit; resolves once it is on disk. */
export async function forge(store: Store, change: (batch: Batch) => void): Promise<void> {
  await store.write(HUB, (batch): void => {
    change({
      get: (table, key) => batch.get(table, key),
      range: (table, query) => batch.range(table, query),
      view: (table, key) => batch.view(table, key),
      keys: (table, prefix) => batch.keys(table, prefix),
      keysIn: (table, query) => batch.keysIn(table, query),
      put: (table, key, value) => batch.put(anyones(table), key, value),
      remove: (table, key) => batch.remove(anyones(table), key),
    });
  });
}

function anyones<K extends Key, V>(table: Table<K, V>): Table<K, V> {
  return { ...table, owners: { hub: 'any' } };
}

/** Makes a file of a schema before checksums out of a current one: the same rows without them. */
export async function withoutSums(store: Store, tables: readonly AnyTable[], schema: number): Promise<void> {
  const oldMeta = defineUnsummedTable<[name: string], MetaRow>(meta.name, recordCodec(1), {});
  await store.write(UPGRADE, (batch): void => {
    for (const table of tables) {
      if (table.name === meta.name || table.sums === undefined) continue;
      const now: Table<Key, Uint8Array> = { ...table, codec: bytesCodec };
      const old = defineUnsummedTable<Key, Uint8Array>(table.name, bytesCodec, {});
      for (const { key, value } of batch.range(now, { prefix: [] })) batch.put(old, key, Uint8Array.from(value));
    }
    for (const { key, value } of batch.range(meta, { prefix: [] })) {
      if (key[0] === 'schema_copy') batch.remove(oldMeta, key);
      else batch.put(oldMeta, key, { value: key[0] === 'schema' ? String(schema) : value.value });
    }
  });
}
