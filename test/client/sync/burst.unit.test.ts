/** Which burst of changes an undo proposes. */
import { expect, test } from 'vitest';
import { largestBurst } from '../../../src/client/sync/plan/burst.ts';

const MINUTE = 60_000;
const burst = (firstMs: number, lastMs: number, changes: number) => ({ firstMs, lastMs, changes });

test.each([
  { title: 'nothing changed', times: [], since: 0, found: undefined },
  { title: 'only earlier changes', times: [5, 10], since: 10, found: undefined },
  { title: 'one change', times: [11], since: 10, found: burst(11, 11, 1) },
  {
    title: 'a pause of a minute is still one burst',
    times: [100, 100 + MINUTE],
    since: 0,
    found: burst(100, 60_100, 2),
  },
  {
    title: 'a longer pause ends it; of equal ones the latest',
    times: [100, 101 + MINUTE],
    since: 0,
    found: burst(60_101, 60_101, 1),
  },
  {
    title: 'the one with the most changes, in any order',
    times: [900_000, 12, 10, 11],
    since: 0,
    found: burst(10, 12, 3),
  },
  { title: 'a slow removal is one burst', times: [2500, 5000, 7500, 300_000], since: 0, found: burst(2500, 7500, 3) },
])('[SYN-27] $title', ({ times, since, found }) => {
  expect(largestBurst(times, since)).toEqual(found);
});
