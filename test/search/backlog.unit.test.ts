/** What is taken from a backlog from either end, against a plain list. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Backlog } from '../../src/search/backlog.ts';
import { runs, seed } from '../support/seed.ts';

test('[FIND-5] a backlog gives each name once: from the front the one that waits longest, from the back the one written last', () => {
  const backlog = new Backlog();
  for (const name of ['a', 'b', 'c', 'a', 'd']) backlog.add(name);
  expect(backlog.size).toBe(4);
  expect([backlog.takeOldest(), backlog.takeNewest(), backlog.takeNewest(), backlog.takeOldest()]).toEqual([
    'a',
    'd',
    'c',
    'b',
  ]);
  expect([backlog.takeOldest(), backlog.takeNewest(), backlog.size]).toEqual([undefined, undefined, 0]);
});

test('[FIND-5] a name that is written again is the newest, and keeps its place among the oldest', () => {
  const backlog = new Backlog();
  for (const name of ['a', 'b', 'c', 'a']) backlog.add(name);
  expect([backlog.takeNewest(), backlog.takeOldest(), backlog.takeOldest()]).toEqual(['a', 'b', 'c']);
});

test(`[FIND-5] whatever is added and taken, each added name is taken once, and few places are held (seed ${seed})`, () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.nat({ max: 40 }).map(String) },
    fc.constantFrom('oldest' as const, 'newest' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6000, minLength: 2000 }), (steps) => {
      const backlog = new Backlog();
      const waiting = new Set<string>();
      for (const one of steps) {
        if (one === 'oldest' || one === 'newest') {
          const taken = one === 'oldest' ? backlog.takeOldest() : backlog.takeNewest();
          if (taken === undefined) expect(waiting.size).toBe(0);
          else expect(waiting.delete(taken)).toBe(true);
        } else {
          backlog.add(one);
          waiting.add(one);
        }
        expect(backlog.size).toBe(waiting.size);
      }
      const rest: string[] = [];
      for (let name = backlog.takeOldest(); name !== undefined; name = backlog.takeOldest()) rest.push(name);
      expect(rest.toSorted()).toEqual([...waiting].toSorted());
    }),
    { seed, numRuns: runs(20) },
  );
});
