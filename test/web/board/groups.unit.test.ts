/** The tables of orders and groups, and what a form for many tasks asks for. */
import { expect, test } from 'vitest';
import type { TaskRecord } from '../../../src/tasks/declared.ts';
import { columnOrder, groupTasks } from '../../../src/web/board/groups.ts';
import { manyChange } from '../../../src/web/board/many.ts';

const TODAY = '2026-03-10';
const task = (id: number, due_date: string | null, category_id: number | null, is_important = false) =>
  ({ id, due_date, category_id, is_important }) as TaskRecord;
const TASKS = [
  task(1, null, 7),
  task(2, '2026-03-09', null, true),
  task(3, '2026-03-10', 8),
  task(4, '2026-03-16', 7),
  task(5, '2026-03-17', 99),
];
const categories = [
  { id: 8, name: 'Home' },
  { id: 7, name: 'Work' },
  { id: 6, name: 'Unused' },
];

test.each([
  [undefined, [[undefined, [1, 2, 3, 4, 5]]]],
  [
    'category',
    [
      ['Home', [3]],
      ['Work', [1, 4]],
      ['No category', [2, 5]],
    ],
  ],
  [
    'due',
    [
      ['Overdue', [2]],
      ['Today', [3]],
      ['Within 7 days', [4]],
      ['Later', [5]],
      ['No due date', [1]],
    ],
  ],
  [
    'important',
    [
      ['Important', [2]],
      ['Others', [1, 3, 4, 5]],
    ],
  ],
] as const)('[WEB-9] grouped by %s', (by, groups) => {
  const found = groupTasks(TASKS, by, { categories, today: TODAY });
  expect(found.map(({ name, tasks }) => [name, tasks.map(({ id }) => id)])).toEqual(groups);
});

test('[WEB-9] a chosen order is that of each column; without one, done tasks are newest first', () => {
  expect(columnOrder('done', undefined)).toEqual({ sortBy: 'completed_at', descending: true });
  expect(columnOrder('todo', undefined)).toEqual({ sortBy: 'due_date', descending: false });
  for (const status of ['done', 'todo'] as const) {
    expect(columnOrder(status, 'newest')).toEqual({ sortBy: 'created_at', descending: true });
  }
});

test.each([
  ['', {}],
  ['act=done&status=todo', { kanban_status: 'done' }],
  ['act=apply&status=backlog&category=&due=&on=', { kanban_status: 'backlog' }],
  ['category=7', { category_id: 7 }],
  ['category=none&due=none', { category_id: null, due_date: null }],
  ['due=tomorrow', { due_date: '2026-03-11' }],
  ['due=week', { due_date: '2026-03-17' }],
  ['due=today&on=2026-12-24', { due_date: '2026-12-24' }],
  ['due=nonsense', {}],
])('[WEB-25] many tasks, asked for "%s"', (query, change) => {
  expect(manyChange(new URLSearchParams(query), TODAY)).toEqual(change);
});
