/** The order in which callers are served. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue } from '../../src/common/fair/fair-queue.ts';
import { StrangersAsOne } from '../../src/common/fair/strangers.ts';
import { seed } from '../support/seed.ts';

test('[NET-11] a caller with one item waits for one item of each other caller at most', () => {
  const queue = new FairQueue<string>();
  for (let at = 0; at < 1000; at += 1) queue.push('greedy', `greedy ${at}`);
  queue.push('small', 'small 0');
  queue.push('other', 'other 0');
  expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
    'greedy 0',
    'small 0',
    'other 0',
    'greedy 1',
  ]);
  expect(queue.size).toBe(998);
});

test('[NET-11] nothing is lost, each caller is served in its own order, and turns go round', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4), { maxLength: 200 }), (pushes) => {
      const queue = new FairQueue<readonly [caller: number, at: number]>();
      for (const [at, caller] of pushes.entries()) queue.push(String(caller), [caller, at]);
      const served: (readonly [number, number])[] = [];
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) served.push(item);
      expect(served.length).toBe(pushes.length);
      expect(queue.size).toBe(0);
      const last = new Map<number, number>();
      const turns = new Map<number, number>();
      for (const [caller, at] of served) {
        expect(at).toBeGreaterThan(last.get(caller) ?? -1);
        last.set(caller, at);
        turns.set(caller, (turns.get(caller) ?? 0) + 1);
        // Whoever still has items was served at most one turn less than anybody else.
        for (const other of new Set(pushes)) {
          const total = pushes.filter((pushed) => pushed === other).length;
          const had = turns.get(other) ?? 0;
          if (had < total) expect(had).toBeGreaterThanOrEqual((turns.get(caller) ?? 0) - 1);
        }
      }
    }),
    { seed, numRuns: 200 },
  );
});

test('[NET-15] all networks together take the turns of one account, and divide them', () => {
  const queue = new StrangersAsOne<string>(new FairQueue(), new FairQueue());
  for (let at = 0; at < 100; at += 1) {
    queue.push(`198.18.${at % 4}.0`, `network ${at % 4}`);
    queue.push('2001:db8::/48', 'v6');
    queue.push('account', 'account');
  }
  const first = Array.from({ length: 10 }, () => queue.next()?.item);
  expect(first.filter((_, at) => at % 2 === 1)).toEqual(Array(5).fill('account'));
  expect(first.filter((_, at) => at % 2 === 0)).toEqual(['network 0', 'v6', 'network 1', 'network 2', 'network 3']);
  let left = queue.size;
  while (queue.next() !== undefined) left -= 1;
  expect([left, queue.size]).toEqual([0, 0]);
});
