/** What was made of rows is given again exactly as long as the rows stay as they are. */
import { expect, test } from 'vitest';
import { KnownRows } from '../../src/cache/rows.ts';
import type { RowWatcher } from '../../src/store/changes/row-watch.ts';
import { taskRows } from '../../src/tasks/records.ts';

function open() {
  const watchers: RowWatcher[] = [];
  const store = { watch: (_table: unknown, watcher: RowWatcher) => void watchers.push(watcher), rowsRevision: () => 0 };
  const rows = new KnownRows<string>(store, taskRows, { parts: 2, weightMax: 10 });
  return { rows, write: watchers[0] as RowWatcher };
}

test('[TASK-5] what was made of rows is forgotten when one of them is written, and nothing else is', () => {
  const { rows, write } = open();
  rows.keep('acc_one', 'space', 'one', 1);
  rows.keep('acc_two', 'space', 'two', 1);
  write([['acc_one', 'space', 7, 1]]);
  expect([rows.find('acc_one', 'space'), rows.find('acc_two', 'space')]).toEqual([undefined, 'two']);
});

test('[TASK-5] nothing is made of a row while commits that write it are under way', () => {
  const { rows, write } = open();
  const settleOne = write([['acc_one', 'space', 7, 1]]);
  const settleOther = write([
    ['acc_one', 'space', 8, 2],
    ['acc_one', 'space', 9, 3],
  ]);
  rows.keep('acc_one', 'space', 'before', 1);
  rows.keep('acc_two', 'space', 'two', 1);
  expect([rows.find('acc_one', 'space'), rows.find('acc_two', 'space')]).toEqual([undefined, 'two']);
  settleOne();
  rows.keep('acc_one', 'space', 'between', 1);
  expect(rows.find('acc_one', 'space')).toBeUndefined();
  settleOther();
  rows.keep('acc_one', 'space', 'after', 1);
  expect(rows.find('acc_one', 'space')).toBe('after');
});

test('[TASK-5] a commit that writes rows of two owners in turn forgets those of both, until it is over', () => {
  const { rows, write } = open();
  rows.keep('acc_one', 'first', 'one', 1);
  rows.keep('acc_one', 'last', 'one', 1);
  rows.keep('acc_two', 'space', 'two', 1);
  const settle = write([
    ['acc_one', 'first', 7, 1],
    ['acc_two', 'space', 8, 1],
    ['acc_one', 'last', 9, 1],
  ]);
  const found = () => [rows.find('acc_one', 'first'), rows.find('acc_one', 'last'), rows.find('acc_two', 'space')];
  expect(found()).toEqual([undefined, undefined, undefined]);
  rows.keep('acc_one', 'last', 'early', 1);
  settle();
  rows.keep('acc_two', 'space', 'late', 1);
  expect(found()).toEqual([undefined, undefined, 'late']);
});
