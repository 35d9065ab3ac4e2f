/** Writes that are answered before the log has them: the log gets all of them, in order, and a crash forgets none. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { bytesCodec, recordCodec } from '../../../src/store/codec.ts';
import { PartsAhead } from '../../../src/store/logged/parts-ahead.ts';
import { placeOfFile, replicationTables } from '../../../src/store/logged/place.ts';
import { ReplicaFile } from '../../../src/store/logged/replica.ts';
import { oldestUnlogged, unloggedCommits } from '../../../src/store/logged/unlogged.ts';
import { HUB } from '../../../src/store/owners.ts';
import { partsOfKey, storedKey } from '../../../src/store/rows.ts';
import { Store } from '../../../src/store/store.ts';
import { type AnyTable, defineTable, defineUnsummedTable, type Key } from '../../../src/store/table.ts';
import { MemoryLog } from '../../support/memory-log.ts';
import { randomOf } from '../../support/random.ts';
import { seed } from '../../support/seed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const rows = defineTable<Key, { readonly n: number }>('rows', recordCodec(1), { hub: 'any', staging: 'any' });
const plain = defineUnsummedTable<Key, Uint8Array>('plain', bytesCodec, { hub: 'any', staging: 'any' });
const tables: readonly AnyTable[] = [rows, plain, ...replicationTables];
const MAP_BYTES = 256 * 1024 * 1024;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function openStore(log: MemoryLog, folder = temporaryFolder()): Store {
  const store = new Store({ folder, tables, log, mapBytes: MAP_BYTES });
  ends.push(() => store.close());
  return store;
}

/** A log whose appends wait until it is let go. */
function heldLog(): { log: MemoryLog; letGo: () => void } {
  const log = new MemoryLog('local');
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  log.before = () => gone;
  return { log, letGo };
}

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');

/** The rows that records leave, by table and stored key. */
function replayed({ records, parts }: Pick<MemoryLog, 'records' | 'parts'>): Record<string, string> {
  const left = new Map<string, string>();
  for (const { table, key, value: inRecord, part } of records.flat()) {
    const name = `${table} ${hex(key)}`;
    const value = part === undefined ? inRecord : parts.get(part.name);
    if (value === undefined) left.delete(name);
    else left.set(name, hex(value) ?? '');
  }
  return Object.fromEntries(left);
}

function stored(store: Store): Record<string, string> {
  const all = ['rows', 'plain'].flatMap((name) => {
    const raw = defineUnsummedTable<Key, Uint8Array>(name, bytesCodec, {});
    return store
      .range(raw, { prefix: [] })
      .map(({ key, value }): [string, string] => [`${name} ${hex(storedKey(key))}`, hex(value) ?? '']);
  });
  return Object.fromEntries(all);
}

const unloggedOf = (store: Store) => [...store.keys(unloggedCommits)].map(([number]) => number);
const put = (store: Store, key: Key, n: number) => store.write(HUB, (batch) => batch.put(rows, key, { n }));

test('[MEMBER-5] a write is answered and visible while the log does not answer, and is in the log later', async () => {
  const { log, letGo } = heldLog();
  const store = openStore(log);
  await put(store, ['a'], 1);
  await put(store, ['a'], 2);
  expect([store.get(rows, ['a'])?.n, log.records.length, unloggedOf(store)]).toEqual([2, 0, [1, 2]]);
  expect(store.logLag).toMatchObject({ commits: 2, bytes: expect.any(Number), ms: expect.any(Number) });
  letGo();
  await store.settled();
  expect([unloggedOf(store), placeOfFile(store)?.position]).toEqual([[], log.records.length]);
  expect(replayed(log)).toEqual(stored(store));
  expect(store.logLag).toEqual({ commits: 0, bytes: 0, ms: 0 });
  expect(log.through.at(-1)).toBe(2);
});

test(`[MEMBER-5] each beginning of the log is a state that the hub had (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const below = (n: number) => Math.floor(random() * n);
  const log = new MemoryLog('local');
  const store = openStore(log);
  // Each decision moves one unit: whatever is missing, the sum of all rows stays.
  await store.write(HUB, (batch) => {
    for (let at = 0; at < 8; at += 1) batch.put(rows, ['n', at], { n: 100 });
  });
  for (let round = 0; round < 30; round += 1) {
    const many = Array.from({ length: 1 + below(20) }, async () => {
      const [from, to] = [below(8), below(8)];
      if (random() < 0.2) {
        const key: Key = ['piece', below(1e9)];
        await store.writeBytes([{ table: plain, key, bytes: Buffer.alloc(1000 + below(300_000), 7) }]);
        await store.write(HUB, (batch) => batch.remove(plain, key));
        return;
      }
      await store.write(HUB, (batch) => {
        const take = batch.get(rows, ['n', from])?.n ?? 0;
        if (from === to) return;
        batch.put(rows, ['n', from], { n: take - 1 });
        batch.put(rows, ['n', to], { n: (batch.get(rows, ['n', to])?.n ?? 0) + 1 });
      });
    });
    await Promise.all(many);
  }
  await store.settled();
  expect(log.losses).toEqual([]);
  expect(replayed(log)).toEqual(stored(store));
  const decoded = (value: string) => rows.codec.decode(Buffer.from(value, 'hex').subarray(0, -4)).n;
  for (let records = 1; records <= log.records.length; records += 1) {
    const left = Object.entries(replayed({ records: log.records.slice(0, records), parts: log.parts }));
    const sum = left.filter(([name]) => name.startsWith('rows ')).reduce((all, [, value]) => all + decoded(value), 0);
    expect(sum, `after ${records} records`).toBe(800);
  }
}, 120_000);

test('[MEMBER-5] after a crash the file says which commits the log lacks, with their rows', async () => {
  const { log, letGo } = heldLog();
  const folder = temporaryFolder();
  const store = openStore(log, folder);
  await put(store, ['a'], 1);
  await store.writeBytes([{ table: plain, key: ['large'], bytes: Buffer.alloc(300_000, 7) }]);
  await store.write(HUB, (batch) => batch.remove(rows, ['a']));
  const copy = temporaryFolder();
  await store.copyTo(`${copy}/cairn.mdb`);
  letGo();
  const file = new ReplicaFile({ folder: copy, mapBytes: MAP_BYTES });
  ends.push(() => file.close());
  expect(file.unlogged).toEqual({ first: 1, last: 3 });
  const group = file.oldestUnlogged(limits.logGroupBytesMax);
  expect(group?.through).toBe(3);
  expect(group?.rows.map(({ table, key, value }) => [table, partsOfKey(key)[0], value?.length])).toEqual([
    ['rows', 'a', expect.any(Number)],
    ['plain', 'large', 300_000],
    ['rows', 'a', undefined],
  ]);
  // What is numbered after one that is still under way stays behind it.
  const until = (last: number) =>
    oldestUnlogged(file.reader, () => ({ value: Buffer.of(7) }), { last, bytesMax: limits.logGroupBytesMax });
  expect([0, 1, 2].map((last) => until(last)?.through)).toEqual([undefined, 1, 2]);
  // Few bytes a record: one commit each.
  expect(file.oldestUnlogged(1)?.through).toBe(1);
  await file.confirm(2, { cell: 1, incarnation: 'i', position: 7, hash: '0'.repeat(64) });
  expect([file.unlogged, file.place?.position]).toEqual([{ first: 3, last: 3 }, 7]);
});

test('[MEMBER-5] a record takes commits until it has the bytes of one; a removal has none', async () => {
  const { log, letGo } = heldLog();
  const folder = temporaryFolder();
  const store = openStore(log, folder);
  await put(store, ['a'], 1);
  await store.write(HUB, (batch) => batch.remove(rows, ['a']));
  await put(store, ['b'], 1);
  const copy = temporaryFolder();
  await store.copyTo(`${copy}/cairn.mdb`);
  letGo();
  const file = new ReplicaFile({ folder: copy, mapBytes: MAP_BYTES });
  ends.push(() => file.close());
  const bytes = file.oldestUnlogged(1)?.rows[0]?.value?.length ?? 0;
  expect(bytes).toBeGreaterThan(1);
  expect([bytes - 1, bytes, bytes + 1].map((max) => file.oldestUnlogged(max)?.through)).toEqual([1, 1, 3]);
  await file.confirm(1, { cell: 1, incarnation: 'i', position: 7, hash: '0'.repeat(64) });
  expect(file.oldestUnlogged(1)).toMatchObject({
    through: 3,
    rows: [{ value: undefined }, { value: expect.anything() }],
  });
});

test('[MEMBER-5] large values are beside the log while a record is under way, several at a time, and one record names all', async () => {
  const { log, letGo } = heldLog();
  const held = log.before;
  let isUnderWay = false;
  log.before = () => {
    isUnderWay = true;
    return held();
  };
  const store = openStore(log);
  await put(store, ['first'], 1);
  while (!isUnderWay) await sleep(10);
  const pieces = limits.logPartsAtOnce + 4;
  for (let at = 0; at < pieces; at += 1)
    await store.writeBytes([{ table: plain, key: ['piece', at], bytes: Buffer.alloc(limits.logPartBytesMin, at) }]);
  while (log.parts.size < pieces) await nextTurn();
  expect(log.records).toEqual([]);
  letGo();
  await store.settled();
  const named = log.records.map((rows) => rows.filter(({ part }) => part !== undefined).length);
  expect(named.toSorted((a, b) => a - b)).toEqual([0, pieces]);
  expect(log.records.flat().some(({ value }) => (value?.length ?? 0) >= limits.logPartBytesMin)).toBe(false);
  const kept = log.records.flat().flatMap(({ part }) => (part === undefined ? [] : [log.parts.get(part.name)?.[0]]));
  expect(kept).toEqual(Array.from({ length: pieces }, (_, at) => at));
}, 120_000);

test('[MEMBER-5] no more large values are on their way at a time than the limit, and the next begins when one arrives', async () => {
  const arrivals: (() => void)[] = [];
  const sent: number[] = [];
  const parts = new PartsAhead({
    bytesOf: (_table, key) => (key[0] === 1 ? undefined : key),
    putPart: async (bytes) => {
      sent.push(bytes[0] ?? 0);
      await new Promise<void>((resolve) => arrivals.push(resolve));
      return { name: `part-${bytes[0]}`, sha256: '', bytes: bytes.length };
    },
  });
  // Row 1 is gone again: nothing is sent for it.
  const all = Array.from({ length: limits.logPartsAtOnce + 3 }, (_, at) => ({ table: 'plain', key: Buffer.of(at) }));
  const put7 = parts.put(7, all);
  await nextTurn();
  const first = [0, ...Array.from({ length: limits.logPartsAtOnce - 1 }, (_, at) => at + 2)];
  expect(sent).toEqual(first);
  arrivals.shift()?.();
  await nextTurn();
  expect(sent).toEqual([...first, limits.logPartsAtOnce + 1]);
  for (let left = arrivals.shift(); left !== undefined; left = arrivals.shift()) {
    left();
    await nextTurn();
  }
  await put7;
  expect(parts.find(7, 'plain', Buffer.of(2))?.name).toBe('part-2');
  expect([parts.find(7, 'plain', Buffer.of(1)), parts.find(8, 'plain', Buffer.of(2))]).toEqual([undefined, undefined]);
  parts.forget(7);
  expect(parts.find(7, 'plain', Buffer.of(2))).toBeUndefined();
});

test('[MEMBER-5] when too many bytes wait for the log, writes wait until it has them', async () => {
  const { log, letGo } = heldLog();
  const store = openStore(log);
  const piece = Buffer.alloc(8 * 1024 * 1024, 7);
  for (let at = 0; at * piece.length < limits.unloggedBytesMax; at += 1)
    await store.writeBytes([{ table: plain, key: ['piece', at], bytes: piece }]);
  let isAnswered = false;
  const late = put(store, ['late'], 1).then(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  expect([isAnswered, store.get(rows, ['late'])]).toEqual([false, undefined]);
  letGo();
  await late;
  expect(store.get(rows, ['late'])?.n).toBe(1);
}, 120_000);

test('[MEMBER-5] a closed store has left nothing behind the log', async () => {
  const log = new MemoryLog('local');
  const store = new Store({ folder: temporaryFolder(), tables, log, mapBytes: MAP_BYTES });
  await put(store, ['a'], 1);
  await store.close();
  expect(Object.keys(replayed(log))).toEqual([`rows ${hex(storedKey(['a']))}`]);
});
