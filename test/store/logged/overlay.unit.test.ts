/** A store with a log decides like one without: the same reads, the same rows, whatever the decisions are. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { bytesCodec, recordCodec } from '../../../src/store/codec.ts';
import type { Batch } from '../../../src/store/group-commit.ts';
import { placeOfFile, replicationTables } from '../../../src/store/logged/place.ts';
import { HUB } from '../../../src/store/owners.ts';
import { partsOfKey, storedKey } from '../../../src/store/rows.ts';
import { Store } from '../../../src/store/store.ts';
import {
  type AnyTable,
  defineHeads,
  defineTable,
  defineUnsummedTable,
  defineWalked,
  type Key,
  type RangeQuery,
} from '../../../src/store/table.ts';
import { MemoryLog } from '../../support/memory-log.ts';
import { randomOf } from '../../support/random.ts';
import { seed } from '../../support/seed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Groups of decisions; a long run takes more of them. */
const GROUPS = Number(process.env['OVERLAY_GROUPS'] ?? 60);

const rows = defineTable<Key, { readonly n: number }>('rows', recordCodec(1), { hub: 'any', staging: 'any' });
const plain = defineUnsummedTable<Key, Uint8Array>('plain', bytesCodec, { hub: 'any', staging: 'any' });
const heads = defineHeads<Key, { readonly n: number }>('heads', recordCodec(1), { hub: 'any' });
const walked = defineWalked<Key, { readonly n: number }>('walked', recordCodec(1), { hub: 'any' });
const tables: readonly AnyTable[] = [rows, plain, heads, walked, ...replicationTables];
/** Of tables with a number in each row. */
const NUMBERED = { rows, heads, walked };

const open: Store[] = [];
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
});

function openStore(log?: MemoryLog): Store {
  const store = new Store({ folder: temporaryFolder(), tables, log });
  open.push(store);
  return store;
}

/** Parts that sort differently as text, as numbers and as bytes. */
const PARTS: readonly (string | number)[] = [
  'a',
  'b',
  'ab',
  'a\u0001',
  'é',
  '한',
  '𐐷',
  '',
  0,
  1,
  -1,
  2.5,
  255,
  256,
  -1e9,
  2 ** 40,
];

interface Step {
  readonly kind: 'get' | 'view' | 'range' | 'keys' | 'put' | 'remove';
  readonly table: 'plain' | keyof typeof NUMBERED;
  readonly key: Key;
  readonly query: RangeQuery;
  readonly n: number;
}

/** Makes the steps of one decision; `undefined` at its end: it throws. */
function decisionOf(random: () => number): { readonly steps: readonly Step[]; readonly fails: boolean } {
  const below = (n: number) => Math.floor(random() * n);
  const one = <T>(of: readonly T[]) => of[below(of.length)] as T;
  const part = () => (random() < 0.6 ? one(PARTS.slice(0, 3)) : one(PARTS));
  const key = (max: number): Key => Array.from({ length: 1 + below(max) }, part);
  const query = (): RangeQuery => ({
    prefix: random() < 0.5 ? [] : key(2),
    ...(random() < 0.5 ? { reverse: true } : {}),
    ...(random() < 0.4 ? { beyond: random() < 0.5 ? part() : key(2) } : {}),
    ...(random() < 0.3 ? { skip: below(4) } : {}),
    ...(random() < 0.4 ? { limit: below(5) } : {}),
  });
  const kinds = ['get', 'view', 'range', 'range', 'keys', 'put', 'put', 'put', 'remove'] as const;
  const steps = Array.from({ length: 1 + below(8) }, () => ({
    kind: one(kinds),
    table: one(['rows', 'plain', 'heads', 'walked'] as const),
    key: key(3),
    query: query(),
    n: below(1000),
  }));
  return { steps, fails: random() < 0.1 };
}

function run(batch: Batch, { steps, fails }: ReturnType<typeof decisionOf>): unknown[] {
  const seen: unknown[] = [];
  for (const { kind, table, key, query, n } of steps) {
    const isPlain = table === 'plain';
    const numbered = isPlain ? rows : NUMBERED[table];
    if (kind === 'get') seen.push(isPlain ? hex(batch.get(plain, key)) : batch.get(numbered, key)?.n);
    else if (kind === 'view') seen.push(hex(batch.view(plain, key)));
    else if (kind === 'keys')
      seen.push([...(isPlain ? batch.keys(plain, query.prefix) : batch.keys(numbered, query.prefix))]);
    else if (kind === 'range') {
      seen.push(
        isPlain
          ? batch.range(plain, query).map((row) => [row.key, hex(row.value)])
          : batch.range(numbered, query).map((row) => [row.key, row.value.n]),
      );
    } else if (kind === 'put' && isPlain) batch.put(plain, key, Buffer.from(`${n}`));
    else if (kind === 'put') batch.put(numbered, key, { n });
    else if (isPlain) batch.remove(plain, key);
    else batch.remove(numbered, key);
  }
  if (fails) throw new Error('this decision fails');
  return seen;
}

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');

const rowsOf = (store: Store) => [
  ...Object.values(NUMBERED).flatMap((table) =>
    store.range(table, { prefix: [] }).map(({ key, value }) => [table.name, key, value.n]),
  ),
  ...store.range(plain, { prefix: [] }).map(({ key, value }) => [key, hex(value)]),
];

/** What the records of a log leave, as text by stored key. */
function replayed(log: MemoryLog): Map<string, string> {
  const left = new Map<string, string>();
  for (const { table, key, value, part } of log.records.flat()) {
    const bytes = part === undefined ? value : log.parts.get(part.name);
    const name = `${table} ${hex(key)}`;
    if (bytes === undefined) left.delete(name);
    else left.set(name, hex(bytes) ?? '');
  }
  return left;
}

test(`[OPS-2] ${GROUPS} groups of decisions read and leave with a log what they do without one (seed ${seed})`, async () => {
  const random = randomOf(seed);
  const log = new MemoryLog();
  const [local, logged] = [openStore(), openStore(log)];
  for (let group = 0; group < GROUPS; group += 1) {
    const decisions = Array.from({ length: 1 + Math.floor(random() * 12) }, () => decisionOf(random));
    const told = await Promise.all(
      [local, logged].map((store) =>
        Promise.allSettled(decisions.map((decision) => store.write(HUB, (batch) => run(batch, decision)))),
      ),
    );
    expect(told[1], `group ${group} of seed ${seed}`).toEqual(told[0]);
    if (group % 50 === 0 || group === GROUPS - 1) expect(rowsOf(logged)).toEqual(rowsOf(local));
  }
  expect(log.losses).toEqual([]);
  expect(placeOfFile(logged)?.position).toBe(log.records.length);
  // The write-sets alone make the same rows, byte by byte.
  const unsummed = (name: string) => defineUnsummedTable<Key, Uint8Array>(name, bytesCodec, {});
  const stored = [...Object.keys(NUMBERED), 'plain'].flatMap((name) =>
    local
      .range(unsummed(name), { prefix: [] })
      .map(({ key, value }): [string, string] => [`${name} ${hex(storedKey(key))}`, hex(value) ?? '']),
  );
  expect(Object.fromEntries(replayed(log))).toEqual(Object.fromEntries(stored));
}, 3_600_000);

test('[OPS-2] a stored key gives its parts again', () => {
  for (const one of PARTS) {
    for (const other of PARTS) {
      expect(partsOfKey(storedKey([one]))).toEqual([one]);
      expect(partsOfKey(storedKey([one, other]))).toEqual([one, other]);
    }
  }
});

test('[OPS-2] nothing is visible and nobody is told before the log has the record', async () => {
  const log = new MemoryLog();
  const store = openStore(log);
  let append = () => {};
  let isAsked = false;
  log.before = () =>
    new Promise<void>((resolve) => {
      append = resolve;
      isAsked = true;
    });
  let told = false;
  const written = store
    .write(HUB, (batch) => batch.put(rows, ['a'], { n: 1 }))
    .then(() => {
      told = true;
    });
  while (!isAsked) await nextTurn();
  expect([told, store.get(rows, ['a']), log.records.length]).toEqual([false, undefined, 0]);
  append();
  await written;
  expect([told, store.get(rows, ['a'])?.n, log.records.length]).toEqual([true, 1, 1]);
});

test('[OPS-2] decisions that wait for the log share the next record', async () => {
  const log = new MemoryLog();
  const store = openStore(log);
  let isAsked = false;
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  log.before = () => {
    isAsked = true;
    return gone;
  };
  const put = (n: number) => store.write(HUB, (batch) => batch.put(rows, ['n', n], { n }));
  const first = put(0);
  while (!isAsked) await nextTurn();
  const others: Promise<unknown>[] = [];
  for (const n of [1, 2, 3, 4]) {
    others.push(put(n));
    // Each could have begun a group of its own.
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  }
  expect(log.records).toEqual([]);
  letGo();
  await Promise.all([first, ...others]);
  expect(log.records.map(({ length }) => length)).toEqual([1, 4]);
});

test.each(['log', 'local'] as const)(
  '[OPS-2] a head that decisions of a group write again and again is once in its record (%s)',
  async (ack) => {
    const log = new MemoryLog(ack);
    const store = openStore(log);
    const count = () =>
      store.write(HUB, (batch) => {
        const n = (batch.get(heads, ['count'])?.n ?? 0) + 1;
        batch.put(heads, ['count'], { n });
        batch.put(rows, ['n', n], { n });
      });
    await Promise.all(Array.from({ length: 100 }, count));
    await store.settled();
    // A busy machine may need several groups for them.
    const groups = log.through.at(-1) ?? log.records.length;
    expect(log.records.flat().filter(({ table }) => table === 'heads')).toHaveLength(groups);
    expect(groups).toBeLessThan(100);
    expect([store.get(heads, ['count'])?.n, store.get(rows, ['n', 100])?.n]).toEqual([100, 100]);
  },
);

test('[OPS-2] large bytes go beside the log under a name that the record has', async () => {
  const log = new MemoryLog();
  const store = openStore(log);
  const large = Buffer.alloc(300_000, 7);
  await store.writeBytes([
    { table: plain, key: ['large'], bytes: large },
    { table: rows, key: ['small'], bytes: rows.codec.encode({ n: 1 }) },
  ]);
  expect(log.records.flat().map(({ key, value, part }) => [partsOfKey(key)[0], value?.length, part?.name])).toEqual([
    ['large', undefined, 'part-1'],
    ['small', expect.any(Number), undefined],
  ]);
  expect(store.get(plain, ['large'])).toEqual(new Uint8Array(large));
  expect(Buffer.compare(log.parts.get('part-1') ?? Buffer.of(), large)).toBe(0);
});
