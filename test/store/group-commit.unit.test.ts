/** Decisions share commits: in order, each sees those before it, and one that fails leaves no trace. */
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { Refusal } from '../../src/common/fault.ts';
import { limits } from '../../src/limits/service.ts';
import { Revisions } from '../../src/store/changes/revisions.ts';
import { recordCodec } from '../../src/store/codec.ts';
import { LocalCommitter } from '../../src/store/committer.ts';
import { type Batch, GroupCommit, type GroupCommitOptions } from '../../src/store/group-commit.ts';
import { HUB } from '../../src/store/owners.ts';
import { openRow, sealRow } from '../../src/store/row-sums.ts';
import { Store } from '../../src/store/store.ts';
import {
  defineHeads,
  defineTable,
  defineWalked,
  type Entry,
  type Key,
  type Reader,
  type Table,
} from '../../src/store/table.ts';
import type { PutRow } from '../../src/store/transaction.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Row {
  readonly count: number;
}

const rows = defineTable<[string], Row>('rows', recordCodec<Row>(1), { hub: 'any' });
const headCodec = recordCodec<Row>(1);
let encodedHeads = 0;
/** Rows whose writes are held back until the end of a group. */
const heads = defineHeads<[string], Row>(
  'heads',
  {
    encode(row) {
      encodedHeads += 1;
      return headCodec.encode(row);
    },
    decode: (bytes) => headCodec.decode(bytes),
  },
  { hub: 'any' },
);
/** Rows whose keys are walked once a group. */
const walked = defineWalked<[string], Row>('walked', recordCodec<Row>(1), { hub: 'any' });
const others = defineTable<[string], Row>('others', recordCodec<Row>(1), { hub: 'any' });

let store: Store | undefined;
afterEach(async () => {
  await store?.close();
  store = undefined;
});

function openStore(): Store {
  store = new Store({ folder: temporaryFolder(), tables: [rows, heads, walked, others] });
  return store;
}

const countOf = (reader: Reader, key: string) => reader.get(rows, [key])?.count ?? 0;

function increment(batch: Batch): number {
  const count = countOf(batch, 'a') + 1;
  batch.put(rows, ['a'], { count });
  return count;
}

test('[OPS-2] decisions run in the order in which they came, and each sees what those before it wrote', async () => {
  const open = openStore();
  const asked = Array.from({ length: 100 }, () => open.write(HUB, increment));
  expect(countOf(open, 'a')).toBe(0);
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(countOf(open, 'a')).toBe(100);
});

test('[OPS-2] a decision does not see its own puts, and the last put of a key counts', async () => {
  const open = openStore();
  const seen = await open.write(HUB, (batch) => {
    batch.put(rows, ['a'], { count: 1 });
    batch.put(rows, ['a'], { count: 2 });
    batch.remove(rows, ['b']);
    return countOf(batch, 'a');
  });
  expect([seen, countOf(open, 'a')]).toEqual([0, 2]);
});

test('[OPS-2] a decision that throws writes nothing, and its neighbours in the same commit are written', async () => {
  const open = openStore();
  const failure = new Error('refused');
  const settled = await Promise.allSettled([
    open.write(HUB, increment),
    open.write(HUB, (batch) => {
      batch.put(rows, ['b'], { count: 1 });
      batch.remove(rows, ['a']);
      throw failure;
    }),
    open.write(HUB, increment),
  ]);
  expect(settled).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: failure },
    { status: 'fulfilled', value: 2 },
  ]);
  expect([countOf(open, 'a'), open.get(rows, ['b'])]).toEqual([2, undefined]);
});

type Step = {
  readonly key: string;
  readonly count: number | undefined;
  readonly fails: boolean;
  readonly walks: boolean;
};

const steps = fc.array(
  fc.record<Step>({
    key: fc.constantFrom('a', 'b', 'c'),
    count: fc.option(fc.nat(9), { nil: undefined }),
    fails: fc.boolean(),
    walks: fc.boolean(),
  }),
  { maxLength: 40 },
);

test.each([rows, heads, walked])(
  `[OPS-2] any decisions together leave in $name what they leave one after another (seed ${seed})`,
  async (table) => {
    const open = openStore();
    const model = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const expected: unknown[] = [];
        const asked = given.map(({ key, count, fails, walks }) => {
          const isThere = model.has(key);
          expected.push(fails ? 'failed' : (model.get(key) ?? 0));
          if (!fails && count === undefined) model.delete(key);
          else if (!fails && count !== undefined) model.set(key, count);
          return open
            .write(HUB, (batch) => {
              const before = batch.get(table, [key])?.count ?? 0;
              if (walks) expect([...batch.keys(table)].some(([one]) => one === key)).toBe(isThere);
              if (walks) expect(batch.range(table, { prefix: [] }).some(({ key: [one] }) => one === key)).toBe(isThere);
              if (count === undefined) batch.remove(table, [key]);
              else batch.put(table, [key], { count });
              if (fails) throw new Error('failed');
              return before;
            })
            .catch((error: Error) => error.message);
        });
        expect(await Promise.all(asked)).toEqual(expected);
        const left = open.range(table, { prefix: [] }).map(({ key: [key], value }) => [key, value.count]);
        expect(left).toEqual([...model].toSorted(([one], [other]) => (one < other ? -1 : 1)));
      }),
      { seed, numRuns: 30 },
    );
  },
);

/** A writer in memory, for what no real disk does when it is asked to. `fails` breaks the next transactions. */
class Harness implements Reader {
  readonly data = new Map<string, Buffer>();
  readonly commits: number[] = [];
  readonly revisions = new Revisions([rows, heads, others]);
  puts = 0;
  readonly group: GroupCommit;
  failsBefore = false;
  failsAfter = false;
  roomBytes = Number.POSITIVE_INFINITY;
  nowMs = 0;

  constructor() {
    const options: GroupCommitOptions = {
      committer: new LocalCommitter({
        transact: (run) => this.#transact(run),
        reader: this,
        begin: (rows) => this.revisions.begin(rows),
      }),
      look: () => (bytes) => bytes <= this.roomBytes,
      committed: () => undefined,
      refusalOf: (error) => Promise.resolve(`refused: ${String(error)}`),
      // A slow machine does not split a commit here.
      elapsed: () => this.nowMs,
    };
    this.group = new GroupCommit(options);
  }

  async #transact(run: (put: PutRow) => void): Promise<void> {
    await Promise.resolve();
    if (this.failsBefore) throw new Error('no transaction');
    const before = new Map(this.data);
    const decisions = this.group.counts.decisions;
    run((_, key, bytes) => this.#put(String(key[0]), bytes));
    await Promise.resolve();
    if (this.failsAfter) {
      this.data.clear();
      for (const [key, bytes] of before) this.data.set(key, bytes);
      throw new Error('no flush');
    }
    this.commits.push(decisions);
  }

  #put(name: string, bytes: Buffer | undefined): void {
    if (bytes === undefined) {
      this.data.delete(name);
      return;
    }
    this.puts += 1;
    this.data.set(name, bytes);
  }

  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    const bytes = this.data.get(String(key[0]));
    return bytes === undefined ? undefined : table.codec.decode(openRow(table, key, bytes));
  }

  range<K extends Key, V>(): Entry<K, V>[] {
    return [];
  }

  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined {
    return this.get(table, key);
  }

  *keys<K extends Key, V>(_table: Table<K, V>): Generator<K> {
    for (const key of this.data.keys()) yield [key] as Key as K;
  }

  keysIn<K extends Key, V>(table: Table<K, V>): Generator<K> {
    return this.keys(table);
  }
}

test('[LIM-2] a commit takes no more decisions than the limit says; the next ones wait for the next commit', async () => {
  const harness = new Harness();
  const asked = Array.from({ length: limits.groupDecisionsMax + 1 }, () => harness.group.write(HUB, increment));
  // Each sees what those before it wrote, whichever commit they went into.
  expect(await Promise.all(asked)).toEqual(asked.map((_, at) => at + 1));
  expect(harness.commits.length).toBeGreaterThan(1);
  expect(harness.group.counts.decisions).toBe(limits.groupDecisionsMax + 1);
});

test('[NET-12] the callers of a commit go on for a turn at a time, in the order of their decisions', async () => {
  const harness = new Harness();
  let round = 0;
  let isOver = false;
  const nextRound = () => {
    round += 1;
    if (!isOver) setImmediate(nextRound);
  };
  setImmediate(nextRound);
  const rounds: number[] = [];
  const turns = 3;
  const asked = Array.from({ length: turns * limits.answeredMsMax }, async () => {
    const count = await harness.group.write(HUB, increment);
    // Sends its answer.
    await Promise.resolve();
    harness.nowMs += 1;
    rounds.push(round);
    return count;
  });
  expect(await Promise.all(asked)).toEqual(asked.map((_, at) => at + 1));
  isOver = true;
  expect(harness.commits).toHaveLength(1);
  const inRound = [...new Set(rounds)].map((one) => rounds.filter((other) => other === one).length);
  expect(inRound).toEqual(Array(turns).fill(limits.answeredMsMax));
});

test('[OPS-2] when a commit fails, every decision in it is refused, and the next commit is written', async () => {
  const harness = new Harness();
  for (const moment of ['failsBefore', 'failsAfter'] as const) {
    harness[moment] = true;
    const settled = await Promise.allSettled([
      harness.group.write(HUB, increment),
      harness.group.write(HUB, increment),
    ]);
    expect(settled.map((each) => (each.status === 'rejected' ? String(each.reason) : 'written'))).toEqual(
      Array(2).fill(`refused: Error: no ${moment === 'failsBefore' ? 'transaction' : 'flush'}`),
    );
    expect(harness.data.size).toBe(0);
    expect(harness.revisions.of([rows])).toBeDefined();
    harness[moment] = false;
  }
  expect(harness.group.counts).toEqual({ decisions: 0, failed: 2 });
  expect(await harness.group.write(HUB, increment)).toBe(1);
});

test('[OPS-2] a head that the decisions of a commit write again and again is encoded and written once', async () => {
  const harness = new Harness();
  const encodedBefore = encodedHeads;
  const next = (batch: Batch) => {
    const count = (batch.get(heads, ['a'])?.count ?? 0) + 1;
    batch.put(heads, ['a'], { count });
    return count;
  };
  expect(await Promise.all(Array.from({ length: 10 }, () => harness.group.write(HUB, next)))).toHaveLength(10);
  expect([harness.puts, harness.get(heads, ['a'])]).toEqual([1, { count: 10 }]);
  expect(encodedHeads - encodedBefore).toBe(1);
  // Written, then removed: the last write counts.
  await Promise.all([harness.group.write(HUB, next), harness.group.write(HUB, (batch) => batch.remove(heads, ['a']))]);
  expect([harness.puts, harness.data.size]).toEqual([1, 0]);
});

test('[OPS-2] a decision that changes what it read or wrote of a head, and then throws, leaves nothing', async () => {
  const harness = new Harness();
  const settled = await Promise.allSettled([
    harness.group.write(HUB, (batch) => {
      const row: { count: number } = { count: 1 };
      batch.put(heads, ['a'], row);
      row.count = 7;
    }),
    harness.group.write(HUB, (batch) => {
      const row = batch.get(heads, ['a']) as { count: number };
      row.count += 1;
      throw new Error('refused');
    }),
    harness.group.write(HUB, (batch) => batch.get(heads, ['a'])?.count),
  ]);
  expect(settled.map((each) => (each.status === 'fulfilled' ? each.value : 'refused'))).toEqual([
    undefined,
    'refused',
    1,
  ]);
  expect(harness.get(heads, ['a'])).toEqual({ count: 1 });
});

// Below its reserve a disk has less room than none.
test.each([0, -1, -1e9])(
  '[OPS-2] with room for %i bytes a put is refused as storage_full, and a decision that only removes is written',
  async (roomBytes) => {
    const harness = new Harness();
    await harness.group.write(HUB, increment);
    harness.roomBytes = roomBytes;
    const refused = await harness.group.write(HUB, increment).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Refusal).fault).toMatchObject({ kind: 'storage_full' });
    expect(countOf(harness, 'a')).toBe(1);
    await harness.group.write(HUB, (batch) => batch.remove(rows, ['a']));
    expect(countOf(harness, 'a')).toBe(0);
  },
);

test('[OPS-2] decisions in one commit share its room: what fits is written, whatever came before and did not', async () => {
  const harness = new Harness();
  const bytes = sealRow(rows, ['a'], rows.codec.encode({ count: 1 })).length;
  harness.roomBytes = 2 * bytes;
  const put = (keys: string[]) =>
    harness.group.write(HUB, (batch) => {
      for (const key of keys) batch.put(rows, [key], { count: 1 });
    });
  const settled = await Promise.allSettled([put(['a']), put(['b', 'c']), put(['d']), put(['e'])]);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
  expect([...harness.data.keys()]).toEqual(['a', 'd']);
});

test('[OPS-2] a revision is unknown while a commit is under way, and another one after it', async () => {
  const open = openStore();
  const [before, beforeOthers] = [open.revision([rows]), open.revision([others])];
  let during: number | undefined = -1;
  const first = open.write(HUB, increment);
  const second = open.write(HUB, (batch) => {
    increment(batch);
    // Outside of the transaction the revision is asked for once the group is written.
    queueMicrotask(() => {
      during = open.revision([rows]);
    });
  });
  await Promise.all([first, second]);
  expect(during).toBeUndefined();
  expect(open.revision([rows])).not.toBe(before);
  expect(open.revision([others])).toBe(beforeOthers);
});
