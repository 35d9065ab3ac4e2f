/** Long reads in turns: each answer is of one moment, whatever is written between two turns, and everybody gets on. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordCodec } from '../../src/store/codec.ts';
import { readInTurns, type Steps } from '../../src/store/in-turns.ts';
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROWS = 400;
const table = defineTable<[number], { readonly version: number }>('rows', recordCodec(1), { hub: 'any' });

let store: Store;
beforeEach(async () => {
  store = new Store({ folder: temporaryFolder(), tables: [table] });
  await setAll(0);
});
afterEach(() => store.close());

const setAll = (version: number) =>
  store.write(HUB, (batch) => {
    for (let row = 0; row < ROWS; row += 1) batch.put(table, [row], { version });
  });

/** Reads every row, and is busy with each of them for a while. */
const versions = (msPerRow: number, begun: () => void = () => undefined): Steps<number[]> =>
  function* (reader) {
    begun();
    const seen = new Set<number>();
    for (const { key, value } of reader.entries(table, { prefix: [] })) {
      const endMs = performance.now() + msPerRow;
      while (performance.now() < endMs);
      seen.add(value.version);
      seen.add(reader.get(table, key)?.version ?? -1);
      yield;
    }
    return [...seen];
  };

test('[NET-12] a read that fits into its turn is there at once', async () => {
  const steps: Steps<number> = function* () {
    yield;
    return 7;
  };
  const answers: unknown[] = [];
  // A busy machine may take the core away for as long as a turn lasts, but not each time.
  for (let tried = 0; tried < 5; tried += 1) {
    // A round of its own: whatever ran before in this one may have used it up.
    await new Promise((resolve) => setImmediate(resolve));
    answers.push(readInTurns(store, 'someone', steps));
  }
  expect(answers).toContain(7);
  expect(await Promise.all(answers)).toEqual([7, 7, 7, 7, 7]);
});

test.each([
  { cheapSteps: 25, times: 1 },
  { cheapSteps: 24, times: 2 },
])(
  '[NET-12] $cheapSteps cheap steps of 25 are not made again when the turn ends before the read: begun $times',
  async ({ cheapSteps, times }) => {
    let begun = 0;
    const page: Steps<void> = function* () {
      begun += 1;
      for (let step = 0; step < 25; step += 1) {
        const endMs = performance.now() + 0.2;
        while (performance.now() < endMs);
        yield;
      }
    };
    await new Promise((resolve) => setImmediate(resolve));
    await readInTurns(store, 'someone', page, cheapSteps);
    expect(begun).toBe(times);
  },
);

test('[NET-12] a read over many turns shows one moment, whatever is written between them', async () => {
  let isOver = false;
  let written = 0;
  const writer = (async () => {
    for (let version = 1; !isOver; version += 1) {
      await setAll(version);
      written = version;
    }
  })();
  // The writer is not held up until a read is over: it writes during reads, how often is up to the disk.
  let during = 0;
  for (let round = 0; round < 5 || during <= 5; round += 1) {
    const before = written;
    expect(await readInTurns(store, 'someone', versions(0.1))).toHaveLength(1);
    during += written - before;
  }
  isOver = true;
  await writer;
});

test('[NET-12] reads of one caller go one after another, and somebody else is not behind all of them', async () => {
  const order: string[] = [];
  const read = async (caller: string, ms: number) => {
    await readInTurns(store, caller, versions(ms));
    order.push(caller);
  };
  await Promise.all([...Array.from({ length: 8 }, () => read('greedy', 0.05)), read('small', 0.02)]);
  expect(order.indexOf('small')).toBeLessThan(4);
  expect(order).toHaveLength(9);
});

test('[NET-12] what a long read throws is what its caller is told, and the next one is served', async () => {
  const failing: Steps<never> = function* (reader) {
    for (const _ of reader.keysIn(table, { prefix: [] })) {
      const endMs = performance.now() + 0.1;
      while (performance.now() < endMs);
      yield;
    }
    throw new Error('at the end');
  };
  await expect(Promise.resolve().then(() => readInTurns(store, 'someone', failing))).rejects.toThrow('at the end');
  expect(await readInTurns(store, 'someone', versions(0.05))).toEqual([0]);
});
