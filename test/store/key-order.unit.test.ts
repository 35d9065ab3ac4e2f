/** Keys of a table: a data file of an earlier build, whose tables LMDB compared in another way, has them in the same order. */
import { join } from 'node:path';
import fc from 'fast-check';
import { type Database, open } from 'lmdb';
import { expect, test } from 'vitest';
import { openEnvironment, openTable } from '../../src/store/environment.ts';
import type { Key } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 9 }),
  fc.string({ unit: fc.constantFrom('\u0000', '\u0001', '\u0004', '\u001b', 'a', 'b', 'é', '한', '😀'), maxLength: 9 }),
);
const number = fc.oneof(fc.integer(), fc.integer({ min: 0, max: 9 }), fc.double({ noNaN: true }));
const keys = fc.uniqueArray(fc.array(fc.oneof(text, number), { minLength: 1, maxLength: 4 }), {
  minLength: 200,
  maxLength: 400,
  selector: String,
});

/** The rows of a table in its order. The library reads a key of one part as that part. */
const rowsOf = (table: Pick<Database<Buffer, Key>, 'getRange'>) =>
  [...table.getRange({})].map(({ key, value }) => ({ key: [key].flat(), value: Buffer.from(value) }));

test('[OPS-9] a table that the library compared has the same rows in the same order', async () => {
  const path = join(temporaryFolder(), 'data.mdb');
  // As tables were opened until LMDB compared their keys itself.
  const before = open<Buffer, Key>({ path, noSubdir: true, encoding: 'binary', keyEncoding: 'ordered-binary' });
  const compared = before.openDB<Buffer, Key>({ name: 'rows', encoding: 'binary', keyEncoding: 'ordered-binary' });
  const some = fc.sample(keys, { numRuns: 5, seed: 7 }).flat();
  await compared.transaction(() => {
    for (const key of some) void compared.put(key, Buffer.from(String(key)));
  });
  const rows = rowsOf(compared);
  await before.close();
  expect(rows.length).toBeGreaterThan(800);

  const root = openEnvironment({ path, mapBytes: 1 << 30, readOnly: false });
  const table = openTable(root, 'rows');
  if (table === undefined) throw new Error('the table is missing');
  expect(rowsOf(table)).toEqual(rows);
  for (const { key, value } of rows) expect(Buffer.from(table.get(key) ?? [])).toEqual(value);
  await table.transaction(() => {
    for (const { key } of rows.filter((_, at) => at % 3 > 0)) void table.remove(key);
    for (const { key, value } of rows.filter((_, at) => at % 3 === 1).reverse()) void table.put(key, value);
  });
  expect(rowsOf(table)).toEqual(rows.filter((_, at) => at % 3 < 2));
  await root.close();
});
