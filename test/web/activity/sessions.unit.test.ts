/** How changes become sessions, what they are counted as, and where a page of them ends. */
import { expect, test } from 'vitest';
import { type ActivityEntry, countsOf, countsText, SessionGrouping } from '../../../src/web/activity/sessions.ts';

const entry = (atMs: number, by: string | null, over: Partial<ActivityEntry> = {}): ActivityEntry => ({
  atMs,
  by,
  kind: 'tasks',
  act: 'changed',
  name: `at ${atMs}`,
  item: `tasks ${atMs}`,
  ref: { of: 'event' },
  ...over,
});

const group = (entries: readonly ActivityEntry[], over: Partial<{ sessionsMax: number; entriesMax: number }> = {}) => {
  const grouping = new SessionGrouping({ gapMs: 10, sessionsMax: 5, entriesMax: 100, ...over });
  let taken = 0;
  for (const one of entries) {
    if (!grouping.take(one)) break;
    taken += 1;
  }
  const { sessions, nextMs } = grouping.page();
  const brief = sessions.map(({ by, firstMs, lastMs, entries: { length }, isCut }) => [
    by,
    firstMs,
    lastMs,
    length,
    isCut,
  ]);
  return { brief, nextMs, taken };
};

test('[WEB-23] changes of one device without a long pause are one session, also when another works at the same time', () => {
  const entries = [entry(50, 'a'), entry(49, 'b'), entry(45, 'a'), entry(35, 'a'), entry(24, 'a'), entry(20, null)];
  expect(group(entries)).toEqual({
    brief: [
      ['a', 35, 50, 3, false],
      ['b', 49, 49, 1, false],
      ['a', 24, 24, 1, false],
      [null, 20, 20, 1, false],
    ],
    nextMs: undefined,
    taken: 6,
  });
});

test('[WEB-23] a page ends with its sessions, and the next begins where it ended; changes of one moment stay together', () => {
  const entries = [entry(50, 'a'), entry(40, 'b'), entry(40, 'c'), entry(39, 'b'), entry(38, 'd'), entry(37, 'b')];
  expect(group(entries, { sessionsMax: 2 })).toEqual({
    brief: [
      ['a', 50, 50, 1, false],
      ['b', 39, 40, 2, true],
      ['c', 40, 40, 1, true],
    ],
    nextMs: 39,
    taken: 4,
  });
  expect(group([entry(9, 'a'), entry(8, 'a'), entry(8, 'a'), entry(7, 'a')], { entriesMax: 2 })).toEqual({
    brief: [['a', 8, 9, 3, true]],
    nextMs: 8,
    taken: 3,
  });
});

test('[WEB-23] a session says how many things of each kind it changed, each once, and how many it deleted in the end', () => {
  const counts = countsOf([
    entry(9, 'a', { item: 'f1', kind: 'files' }),
    entry(8, 'a', { item: 'f1', kind: 'files', act: 'deleted' }),
    entry(7, 'a', { item: 'f2', kind: 'files', act: 'deleted' }),
    entry(6, 'a', { item: 'f2', kind: 'files' }),
    entry(5, 'a', { item: 't1' }),
    entry(4, 'a', { item: 't2', act: 'deleted' }),
    entry(3, 'a', { item: 'd', kind: 'documents' }),
    entry(2, 'a', { item: 'e', kind: 'account', act: 'event' }),
  ]);
  expect(countsText(counts)).toBe('1 file, 1 task, 1 document, 1 account event, 2 deleted');
  expect(countsText(countsOf([]))).toBe('');
  expect(countsText({ ...counts, files: 6, tasks: 3, documents: 0, account: 0, deleted: 1 })).toBe(
    '6 files, 3 tasks, 1 deleted',
  );
});
