/** What was made of rows is given again exactly as long as the rows stay as they are. */
import { expect, test } from 'vitest';
import { KnownRows } from '../../src/cache/rows.ts';
import type { RowWatcher } from '../../src/store/changes/row-watch.ts';
import type { Key } from '../../src/store/table.ts';
import { taskRows } from '../../src/tasks/records.ts';

function open() {
  const watchers: RowWatcher[] = [];
  const store = { watch: (_table: unknown, watcher: RowWatcher) => void watchers.push(watcher), rowsRevision: () => 0 };
  const rows = new KnownRows<string>(store, taskRows, { parts: 2, weightMax: 10 });
  return { rows, write: (keys: readonly Key[]) => (watchers[0] as RowWatcher)(keys, []) };
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
  settleOne(true);
  rows.keep('acc_one', 'space', 'between', 1);
  expect(rows.find('acc_one', 'space')).toBeUndefined();
  settleOther(true);
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
  settle(true);
  rows.keep('acc_two', 'space', 'late', 1);
  expect(found()).toEqual([undefined, undefined, 'late']);
});

/** A cache of what tasks are made of, and the writes of a commit: `undefined` removes a row. */
function openMade() {
  const watchers: RowWatcher[] = [];
  const store = { watch: (_table: unknown, watcher: RowWatcher) => void watchers.push(watcher) };
  const made = (row: unknown) => ({ value: `made of ${String(row)}`, weight: 1 });
  const rows = new KnownRows<string>(store, taskRows, { parts: 2, weightMax: 10, made });
  const write = (...written: readonly (readonly [number, string | undefined])[]) =>
    (watchers[0] as RowWatcher)(
      written.map(([id]) => ['acc_one', id]),
      written.map(([, row]) => row),
    );
  return { rows, write, found: () => [1, 2, 3].map((id) => rows.find('acc_one', id)) };
}

test('[TASK-5] what is made of a written row is cached once its commit is over, and the last write of it counts', () => {
  const { write, found } = openMade();
  const settle = write([1, 'a'], [2, 'b'], [2, 'c'], [3, 'd'], [3, undefined]);
  expect(found()).toEqual([undefined, undefined, undefined]);
  settle(true);
  expect(found()).toEqual(['made of a', 'made of c', undefined]);
});

test('[TASK-5] nothing is made of a row whose commit failed, or that a later commit under way writes', () => {
  const { rows, write, found } = openMade();
  const first = write([1, 'a'], [2, 'b']);
  first(false);
  expect(found()).toEqual([undefined, undefined, undefined]);
  const second = write([1, 'c'], [2, 'd']);
  const third = write([2, undefined]);
  second(true);
  expect(found()).toEqual(['made of c', undefined, undefined]);
  third(true);
  expect(found()).toEqual(['made of c', undefined, undefined]);
  rows.keep('acc_one', 2, 'read', 1);
  write([2, 'e'])(false);
  expect(found()).toEqual(['made of c', undefined, undefined]);
});
