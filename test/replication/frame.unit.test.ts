/** The bytes of records, and the chain that they form. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHAIN_START, ChainBroken, checkNotBehind, follow } from '../../src/replication/chain.ts';
import {
  DamagedRecord,
  decodeHead,
  decodeRecord,
  encodeRecord,
  NO_HASH,
  RecordTooLarge,
  type RecordToWrite,
} from '../../src/replication/frame.ts';
import { decodeRows, encodeRows, ROW_BYTES_MAX, rowSize } from '../../src/replication/row-bytes.ts';
import { seed } from '../support/seed.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 1) * 100;

const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
const sum = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((hash) => Buffer.from(hash).toString('hex'));
const key = { table: fc.string({ maxLength: 60 }), key: bytes(200) };
const row = fc.oneof(
  fc.record(key),
  fc.record({ ...key, value: bytes(2000) }),
  fc.record({ ...key, part: fc.record({ name: fc.string({ maxLength: 80 }), sha256: sum, bytes: fc.nat() }) }),
);
const record: fc.Arbitrary<RecordToWrite> = fc.record(
  {
    cell: fc.nat(),
    incarnation: fc.string(),
    position: fc.nat(),
    member: fc.string(),
    timeMs: fc.nat(),
    id: fc.string(),
    previousHash: sum,
    kind: fc.constantFrom('write', 'beat', 'take-over', 'hand-over', 'upgrade'),
    rows: fc.array(row, { maxLength: 40 }),
    note: fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      fc.string(),
    ),
  },
  { requiredKeys: ['cell', 'incarnation', 'position', 'member', 'timeMs', 'id', 'previousHash', 'kind', 'rows'] },
);

const plain = (rows: RecordToWrite['rows']) =>
  rows.map((one) => [one.table, Buffer.from(one.key), one.value && Buffer.from(one.value), one.part]);

const SIMPLE: RecordToWrite = {
  cell: 1,
  incarnation: 'i',
  position: 1,
  member: 'm',
  timeMs: 5,
  id: 'x',
  previousHash: NO_HASH,
  kind: 'write',
  rows: [{ table: 'tasks', key: Buffer.from('key'), value: Buffer.from('value') }],
};

test('[MEMBER-1] a record is read as it was written', async () => {
  await fc.assert(
    fc.asyncProperty(record, async (written) => {
      const encoded = await encodeRecord(written);
      const { rows, hash, ...head } = await decodeRecord(encoded.bytes);
      const { rows: expected, ...fields } = written;
      expect(plain(rows)).toEqual(plain(expected));
      expect(head).toEqual(fields);
      expect(hash).toBe(encoded.hash);
      expect(decodeHead(encoded.bytes)).toEqual({ ...fields, hash });
    }),
    { seed, numRuns: RUNS },
  );
});

test('[MEMBER-4] a record with a changed, missing or additional byte is refused', async () => {
  const { bytes: whole } = await encodeRecord(SIMPLE);
  for (let at = 0; at < whole.length; at += 1) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] as number) ^ (1 << (at % 8));
    await expect(decodeRecord(flipped)).rejects.toThrow(DamagedRecord);
    await expect(decodeRecord(whole.subarray(0, at))).rejects.toThrow(DamagedRecord);
  }
  await expect(decodeRecord(Buffer.concat([whole, Buffer.alloc(1)]))).rejects.toThrow(DamagedRecord);
  await expect(decodeRecord(whole)).resolves.toMatchObject({ id: 'x' });
});

test('[MEMBER-4] a record of a later form says what to do', async () => {
  const { bytes: later } = await encodeRecord(SIMPLE);
  later[8] = 9;
  await expect(decodeRecord(later)).rejects.toThrow(/form 9, and this version of Cairn reads 1: upgrade this member/);
});

test('[MEMBER-1] a record above 8 MiB is refused before it is written', async () => {
  const value = randomBytes(8 * 1024 * 1024);
  await expect(encodeRecord({ ...SIMPLE, rows: [{ table: 't', key: value.subarray(0, 9), value }] })).rejects.toThrow(
    RecordTooLarge,
  );
  const many = Array.from({ length: 9 }, () => ({ table: 't', key: Buffer.from('k'), value }));
  expect(many.reduce((sum, one) => sum + rowSize(one), 0)).toBeGreaterThan(ROW_BYTES_MAX);
  await expect(encodeRows(many)).rejects.toThrow(RangeError);
});

test('[MEMBER-4] bytes that are not rows are refused, and rows compress', async () => {
  const rows = Array.from({ length: 100 }, (_, index) => ({
    table: 'task_rows',
    key: Buffer.from(`account-${index}`),
    value: Buffer.from(JSON.stringify({ title: 'A task', importance: 'normal', index })),
  }));
  const size = rows.reduce((sum, one) => sum + rowSize(one), 0);
  const encoded = await encodeRows(rows);
  expect(encoded.length * 5).toBeLessThan(size);
  for (const length of [1, 10, encoded.length - 1]) {
    await expect(decodeRows(encoded.subarray(0, length))).rejects.toThrow();
  }
  await expect(decodeRows(Buffer.from('no rows at all'))).rejects.toThrow();
});

test('[MEMBER-4] a chain goes on by one record that names the hash of the one before', async () => {
  const first = await decodeRecord((await encodeRecord(SIMPLE)).bytes);
  const end = follow(CHAIN_START, first);
  expect(end).toEqual({ position: 1, hash: first.hash });
  const second = { ...SIMPLE, position: 2, previousHash: first.hash, hash: 'f'.repeat(64) };
  expect(follow(end, second)).toEqual({ position: 2, hash: second.hash });
  expect(() => follow(end, { ...second, position: 3 })).toThrow(/record 3 of the log came after record 1/);
  expect(() => follow(end, { ...second, position: 1 })).toThrow(ChainBroken);
  const other = 'e'.repeat(64);
  expect(() => follow(end, { ...second, previousHash: other })).toThrow(
    new RegExp(`names ${other}.*has ${first.hash}`),
  );
});

test('[MEMBER-4] a log that ends before what a member applied is told, with positions and the hash', () => {
  const end = { position: 7, hash: 'a'.repeat(64) };
  expect(() => checkNotBehind(end, 6)).toThrow(/ends at record 6, .*applied record 7 with the hash aaaa/);
  checkNotBehind(end, 7);
  checkNotBehind(end, 8);
});
