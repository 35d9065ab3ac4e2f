/** The checksum of a row: of its table, its key and its value. */
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { rowSums } from '../../src/compose/schema/row-sums.ts';
import { allTables } from '../../src/compose/tables.ts';
import { bytesCodec, versionedTextCodec } from '../../src/store/codec.ts';
import { migrate, putSchema, schemaOf } from '../../src/store/meta/schema.ts';
import { UPGRADE } from '../../src/store/owners.ts';
import { DamagedRow, encodeRow, openRow, SUM_BYTES, sealRow } from '../../src/store/row-sums.ts';
import { Store } from '../../src/store/store.ts';
import { type AnyTable, defineTable, defineUnsummedTable, type Key, type Table } from '../../src/store/table.ts';
import { withoutSums } from '../support/forge.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const table = defineTable<Key, Uint8Array>('rows', bytesCodec, {});
const other = defineTable<Key, Uint8Array>('others', bytesCodec, {});
const value = Buffer.from('a value of some length');

test('[OPS-24] each bit of a stored row counts, and so do its key and its table', () => {
  const key: Key = ['acc_1', 7];
  const stored = sealRow(table, key, value);
  expect(Buffer.from(openRow(table, key, stored)).equals(value)).toBe(true);
  for (let bit = 0; bit < stored.length * 8; bit += 1) {
    const rotten = Uint8Array.from(stored);
    rotten[bit >> 3] = (rotten[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => openRow(table, key, rotten)).toThrow(DamagedRow);
  }
  for (let length = 0; length < stored.length; length += 1) {
    expect(() => openRow(table, key, stored.subarray(0, length))).toThrow(DamagedRow);
  }
  const places: Key[] = [['acc_1', 8], ['acc_2', 7], ['acc_1'], ['acc_1', 7, ''], ['acc_17'], ['acc_1', 2 ** 32 + 7]];
  for (const place of places) expect(() => openRow(table, place, stored)).toThrow(DamagedRow);
  expect(() => openRow(other, key, stored)).toThrow('damaged');
});

test('[OPS-24] an empty value has the same checksum, wherever its buffer is', () => {
  const buffers = [
    Buffer.alloc(0),
    Buffer.from(new Uint8Array(0)),
    Buffer.from('some').subarray(2, 2),
    Buffer.from(''),
  ];
  const stored = buffers.map((empty) => sealRow(table, [1], empty).toString('hex'));
  expect(new Set(stored).size).toBe(1);
  for (const one of stored) expect(openRow(table, [1], Buffer.from(one, 'hex'))).toHaveLength(0);
});

test('[OPS-24] the checksum is the CRC-32 of zlib whatever the length, and the same where the codec leaves room for it', () => {
  const texts = defineTable<Key, string>('rows', versionedTextCodec(1), {});
  const key: Key = ['acc_1', 7];
  const start = sealRow(table, key, Buffer.alloc(0)).readUInt32LE(0);
  for (let length = 0; length < 64; length += 1) {
    const text = 'a row of a file, '.repeat(4).slice(0, length);
    const encoded = texts.codec.encode(text);
    const stored = sealRow(texts, key, encoded);
    expect(stored.readUInt32LE(encoded.length)).toBe(crc32(encoded, start));
    expect(encodeRow(texts, key, text).equals(stored)).toBe(true);
  }
});

test('[OPS-24] the checksum leaves out a part with a hash of its own, and nothing else', () => {
  const hashed = defineTable<Key, Uint8Array>('rows', bytesCodec, {}, () => [4, 8]);
  const stored = sealRow(hashed, [1], value);
  for (let at = 0; at < stored.length; at += 1) {
    const rotten = Uint8Array.from(stored);
    rotten[at] = (rotten[at] ?? 0) ^ 1;
    const open = () => openRow(hashed, [1], rotten);
    if (at >= 4 && at < 8) expect(open()).toHaveLength(value.length);
    else expect(open).toThrow(DamagedRow);
  }
});

type Stored = Record<string, string>;

/** Every row of a store as it is stored, by table and key. */
function storedRows(store: Store, tables: readonly AnyTable[]): Stored {
  const found: Stored = {};
  for (const { name } of tables) {
    const raw = defineUnsummedTable<Key, Uint8Array>(name, bytesCodec, {});
    for (const { key, value: bytes } of store.range(raw, { prefix: [] })) {
      found[`${name} ${key.join(' ')}`] = Buffer.from(bytes).toString('hex');
    }
  }
  return found;
}

test(`[OPS-24] an interrupted upgrade gives each row one checksum (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const folder = temporaryFolder();
  let store = new Store({ folder, tables: allTables });
  const tables = allTables.filter(({ name }) =>
    ['tasks', 'version_texts', 'mirror_chunks', 'sync_files'].includes(name),
  );
  await store.write(UPGRADE, (batch): void => {
    putSchema(batch, rowSums.to);
    for (const each of tables) {
      const raw: Table<Key, Uint8Array> = { ...each, codec: bytesCodec };
      for (let row = 0; row < 9_000; row += 1) batch.put(raw, ['acc_1', row], Buffer.alloc(1 + (row % 90), row));
    }
  });
  const wanted = storedRows(store, tables);
  await withoutSums(store, allTables, rowSums.to - 1);
  const before = storedRows(store, tables);
  expect(before['tasks acc_1 7']).toHaveLength((wanted['tasks acc_1 7'] ?? '').length - 2 * SUM_BYTES);
  expect(before['mirror_chunks acc_1 7']).toBe(wanted['mirror_chunks acc_1 7']);
  expect(schemaOf(store)).toBe(rowSums.to - 1);
  let interrupted = 0;
  for (let left = 1 + Math.floor(random() * 3); schemaOf(store) < rowSums.to; left = 1 + Math.floor(random() * 3)) {
    await migrate(store, [rowSums], () => {
      left -= 1;
      if (left === 0) throw new Error('cut off');
    }).catch((error: unknown) => {
      expect(String(error)).toContain('cut off');
      interrupted += 1;
    });
    await store.close();
    store = new Store({ folder, tables: allTables });
  }
  expect(interrupted).toBeGreaterThan(1);
  expect(storedRows(store, tables)).toEqual(wanted);
  await store.close();
});
