/** Which burst of changes an undo proposes, and when it asks a second time. */
import { expect, test } from 'vitest';
import { isFarUndo, largestBurst } from '../../../src/client/sync/plan/burst.ts';

const MINUTE = 60_000;
const burst = (firstMs: number, lastMs: number, changes: number) => ({ firstMs, lastMs, changes });
const changed = (...times: number[]) => times.map((atMs) => ({ atMs, isNew: false }));
const created = (...times: number[]) => times.map((atMs) => ({ atMs, isNew: true }));

test.each([
  { title: 'nothing changed', changes: [], since: 0, found: undefined },
  { title: 'only earlier changes', changes: changed(5, 10), since: 10, found: undefined },
  { title: 'one change', changes: changed(11), since: 10, found: burst(11, 11, 1) },
  {
    title: 'a pause of a minute is still one burst',
    changes: changed(100, 100 + MINUTE),
    since: 0,
    found: burst(100, 60_100, 2),
  },
  {
    title: 'a longer pause ends it; of equal ones the latest',
    changes: changed(100, 101 + MINUTE),
    since: 0,
    found: burst(60_101, 60_101, 1),
  },
  {
    title: 'the one with the most changes, in any order',
    changes: changed(900_000, 12, 10, 11),
    since: 0,
    found: burst(10, 12, 3),
  },
  {
    title: 'a slow removal is one burst',
    changes: changed(2500, 5000, 7500, 300_000),
    since: 0,
    found: burst(2500, 7500, 3),
  },
  {
    title: 'a first push is not part of the removal that follows it',
    changes: [...created(10, 11, 12, 13, 14), ...changed(20, 21)],
    since: 0,
    found: burst(20, 21, 2),
  },
  {
    title: 'nor its rest that came after the time asked for',
    changes: [...created(10, 11, 12, 13, 14), ...changed(20, 21)],
    since: 12,
    found: burst(20, 21, 2),
  },
  {
    title: 'new files within the removal are, as a program leaves them that encrypts',
    changes: [...created(10), ...changed(20), ...created(21, 22)],
    since: 0,
    found: burst(20, 22, 3),
  },
  { title: 'a first push alone can be undone', changes: created(10, 11), since: 0, found: burst(10, 11, 2) },
  {
    title: 'a later burst of new files is one, with what changed after them',
    changes: [...created(10), ...created(100_000, 100_001), ...changed(100_002)],
    since: 0,
    found: burst(100_000, 100_002, 3),
  },
])('[SYN-27] $title', ({ changes, since, found }) => {
  expect(largestBurst(changes, since)).toEqual(found);
});

test.each([
  [0, 0, false],
  [1, 0, true],
  [50, 100, false],
  [51, 100, true],
])('[SYN-27] an undo that changes %i files where there are %i goes far: %s', (count, files, isFar) => {
  expect(isFarUndo(count, files)).toBe(isFar);
});
