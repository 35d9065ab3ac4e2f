/** Migrations in small pieces: cut off anywhere and gone on with, each row is migrated once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordCodec } from '../../src/store/codec.ts';
import { metaTables } from '../../src/store/meta/meta.ts';
import { type Migration, migrate, migratingTo, schemaOf } from '../../src/store/meta/schema.ts';
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { runs } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const before = defineTable<[number], { readonly count: number }>('rows', recordCodec(1), { hub: 'any' });
const after = defineTable<[number], { readonly counts: readonly number[] }>('rows', recordCodec(2), { hub: 'any' });
const tables = [...metaTables, before];
const PIECE = 3;

/** Wraps the count of each row in a list, some rows a piece. */
const listed: Migration = {
  to: 2,
  what: 'counts are lists',
  tables: [],
  check: () => [],
  piece(batch, from) {
    const rows = batch.range(before, { prefix: [], limit: PIECE, ...(from === undefined ? {} : { beyond: from }) });
    for (const { key, value } of rows) batch.put(after, key, { counts: [value.count] });
    return rows.length < PIECE ? undefined : rows.at(-1)?.key;
  },
};

/** Adds one to each list. */
const raised: Migration = {
  ...listed,
  to: 3,
  what: 'counts are one more',
  piece(batch, from) {
    const rows = batch.range(after, { prefix: [], limit: PIECE, ...(from === undefined ? {} : { beyond: from }) });
    for (const { key, value } of rows) batch.put(after, key, { counts: value.counts.map((count) => count + 1) });
    return rows.length < PIECE ? undefined : rows.at(-1)?.key;
  },
};

test('[OPS-9] a migration that is broken off anywhere is resumed, and changes each row once', async () => {
  const run = fc.asyncProperty(
    fc.nat(20),
    fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }),
    async (rows, cuts) => {
      const folder = temporaryFolder();
      let store = new Store({ folder, tables });
      await store.write(HUB, (batch): void => {
        for (let row = 0; row < rows; row += 1) batch.put(before, [row], { count: row * 10 });
      });
      for (const cut of cuts) {
        let left = cut;
        await migrate(store, [listed, raised], () => {
          left -= 1;
          if (left === 0) throw new Error('cut off');
        }).catch((error: unknown) => expect(String(error)).toContain('cut off'));
        await store.close();
        store = new Store({ folder, tables });
      }
      await migrate(store, [listed, raised], () => undefined);
      expect([schemaOf(store), migratingTo(store)]).toEqual([3, undefined]);
      const found = store.range(after, { prefix: [] }).map(({ value }) => value.counts);
      expect(found).toEqual(Array.from({ length: rows }, (_, row) => [row * 10 + 1]));
      await store.close();
    },
  );
  await fc.assert(run, { numRuns: runs(10) });
});

test('[OPS-9] a piece that throws changes nothing and leaves the file where it was', async () => {
  const store = new Store({ folder: temporaryFolder(), tables });
  await store.write(HUB, (batch): void => batch.put(before, [1], { count: 1 }));
  const broken: Migration = {
    ...listed,
    piece(batch) {
      batch.put(after, [1], { counts: [] });
      throw new Error('a row that nobody foresaw');
    },
  };
  await expect(migrate(store, [broken], () => undefined)).rejects.toThrow('nobody foresaw');
  expect([schemaOf(store), migratingTo(store), store.get(before, [1])]).toEqual([1, undefined, { count: 1 }]);
  await store.close();
});
