/** Holds lists and searches of tasks against those of a plain model, and makes tasks of every kind. */

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import { KANBAN_STATUSES, type TaskRecord } from '../../src/tasks/declared.ts';
import type { TaskFields } from '../../src/tasks/fields.ts';
import { defined } from '../../src/tasks/list/arguments.ts';
import { SORT_FIELDS, type TaskFilter } from '../../src/tasks/list/query.ts';
import type { TaskSearch } from '../../src/tasks/list/search.ts';
import { clearedCategories, taskCounts } from '../../src/tasks/records.ts';
import { verifyTasks } from '../../src/tasks/verify.ts';
import { dayNumber } from '../../src/time/calendar.ts';
import { openZone } from '../../src/time/zone.ts';
import { Model, type ModelFilter, sorted } from './model.ts';
import { createFrom, type Desk, openDesk } from './support.ts';

export const ACCOUNT = 'acc_one';
export const DATES = ['2026-11-18', '2026-11-20', '2026-11-21', '2027-02-28', '0001-01-01', '9999-12-31'];
const CONTENTS = [
  'b',
  'B',
  'a',
  'é',
  'zebra',
  'Zebra 2',
  '～ wide',
  '😀 smile',
  'two\nlines',
  `${'x'.repeat(100)}1`,
  `${'x'.repeat(100)}0`,
];

const FILTERS: ModelFilter[] = [
  {},
  { categoryId: 1 },
  { categoryId: 2 },
  { categoryId: 99 },
  { completed: true },
  { completed: false },
  { isImportant: true },
  { isImportant: false },
  { kanbanStatus: 'in_progress' },
  { kanbanStatus: 'done' },
  { completed: true, kanbanStatus: 'todo' },
  { dueFrom: '2026-11-20' },
  { dueTo: '2026-11-20' },
  { dueFrom: '2026-11-19', dueTo: '2026-11-21' },
  { dueFrom: '2026-11-21', dueTo: '2026-11-21', categoryId: 1 },
  { categoryId: 1, completed: false, isImportant: true, dueTo: '2027-01-01' },
];

function filterOf({ dueFrom, dueTo, ...rest }: ModelFilter): TaskFilter {
  const isDue = dueFrom !== undefined || dueTo !== undefined;
  const due = { low: dayNumber(dueFrom ?? '0000-01-01'), high: dayNumber(dueTo ?? '9999-12-31') };
  return { ...rest, ...defined({ due: isDue ? due : undefined }) };
}

/** Many records are compared by Node.js, which takes a tenth of the time; what differs is told as ever. */
function expectEqual(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}

/** What a search finds, as records: all of them are live. */
async function searched(tasks: Desk['tasks'], search: TaskSearch) {
  const { tasks: texts, ...rest } = await tasks.searchShown(ACCOUNT, search);
  return { tasks: texts.map(({ json }) => ({ ...(JSON.parse(json) as TaskRecord), deleted_at: null })), ...rest };
}

/** Every filter in every order: all pages, the totals, and the first finds of a search. */
export async function expectSameLists(
  { tasks }: Desk,
  model: Model,
  limit: number,
  pages: (count: number) => number[],
): Promise<void> {
  for (const plain of FILTERS) {
    const filter = filterOf(plain);
    for (const sortBy of SORT_FIELDS) {
      for (const descending of [false, true]) {
        const order = { sortBy, descending };
        const expected = model.list(plain, order);
        for (const page of pages(Math.ceil(expected.length / limit))) {
          const offset = page * limit;
          const found = tasks.list(ACCOUNT, { filter, order, offset, limit });
          const tasksOfPage = expected.slice(offset, offset + limit);
          expectEqual(
            { plain, order, page, ...found },
            { plain, order, page, tasks: tasksOfPage, total: expected.length },
          );
        }
        const finds = await searched(tasks, { filter, order, limit, zone: openZone('UTC') });
        expectEqual(finds, { tasks: expected.slice(0, limit), hasMore: expected.length > limit, complete: true });
      }
    }
  }
}

export function expectSameCategories({ tasks }: Desk, model: Model): void {
  const counted = model.categories
    .map(({ id, name, position }) => ({
      id,
      name,
      position,
      task_count: model.live().filter((task) => task.category_id === id).length,
    }))
    .sort((a, b) => a.position - b.position || a.id - b.id);
  expect(
    tasks.categories.list(ACCOUNT).map(({ id, name, position, task_count }) => ({ id, name, position, task_count })),
  ).toEqual(counted);
}

/** Texts and local days, in every order. */
export async function expectSameSearches({ tasks }: Desk, model: Model): Promise<void> {
  const zone = openZone('Asia/Seoul');
  const seoulDay = (at: string) => new Date(Date.parse(at) + 9 * 3600 * 1000).toISOString().slice(0, 10);
  const createdOn = { from: '2026-11-21' };
  const completedOn = { from: '2026-11-21', to: '2026-11-25' };
  for (const sortBy of SORT_FIELDS) {
    const order = { sortBy, descending: true };
    const live = sorted(model.live(), order);
    const search = { filter: {}, order, limit: 500, zone };
    const texts = live.filter(({ content }) => content.toLowerCase().includes('zebra'));
    expect((await searched(tasks, { ...search, text: 'ZEBRA' })).tasks).toEqual(texts);
    const created = live.filter((task) => seoulDay(task.created_at) >= createdOn.from);
    expect((await searched(tasks, { ...search, createdOn })).tasks).toEqual(created);
    const completed = live.filter(({ completed_at: at }) => {
      const day = at === null ? '' : seoulDay(at);
      return day >= completedOn.from && day <= completedOn.to;
    });
    expect((await searched(tasks, { ...search, completedOn })).tasks).toEqual(completed);
  }
}

export const fieldsArbitrary: fc.Arbitrary<TaskFields & { readonly content: string }> = fc.record(
  {
    content: fc.constantFrom(...CONTENTS),
    due_date: fc.option(fc.constantFrom(...DATES)),
    is_important: fc.boolean(),
    kanban_status: fc.constantFrom(...KANBAN_STATUSES),
    category_id: fc.option(fc.integer({ min: 1, max: 4 })),
  },
  { requiredKeys: ['content'] },
);

/** Leaves a category out that is not there, as a caller would. */
export function possible(model: Model, fields: TaskFields): TaskFields {
  const { category_id: id, ...rest } = fields;
  return id === undefined || (id !== null && !model.categories.some((known) => known.id === id)) ? rest : fields;
}

/** So many tasks: every filter in every order gives the right pages and totals, with a category and after it. */
export async function expectManyRight(count: number): Promise<void> {
  const desk = openDesk();
  const model = new Model();
  for (const name of ['one', 'two']) {
    const { id, position } = await desk.tasks.categories.create(ACCOUNT, { name });
    model.categories.push({ id, name, position });
  }
  const seed = 20261120;
  const made = fc.sample(fieldsArbitrary, { numRuns: count, seed });
  for (let first = 0; first < made.length; first += 500) {
    desk.clock.ms += 1000;
    const wanted = made.slice(first, first + 500).map((fields) => possible(model, fields));
    const created = await Promise.all(wanted.map((fields) => createFrom(desk.tasks, ACCOUNT, fields)));
    expectEqual(
      created,
      wanted.map((fields) => model.create(fields, desk.clock.ms)),
    );
  }
  await expectSameLists(desk, model, 100, (count) => [0, 1, count >> 1, count - 1, count].filter((page) => page >= 0));
  expect(verifyTasks(new CheckedReader(desk.store))).toEqual({ tasks: count, categories: 2, problems: [] });
  await desk.tasks.categories.remove(ACCOUNT, 1);
  model.removeCategory(1, desk.clock.ms);
  // Many tasks have it in their records still: that shows nowhere, before they are rewritten and after.
  expect([...desk.store.keys(clearedCategories)]).toEqual([[ACCOUNT, 1]]);
  await expectSameLists(desk, model, 100, () => [0]);
  expect(verifyTasks(new CheckedReader(desk.store)).problems).toEqual([]);
  desk.clock.ms += 30 * 24 * 3600 * 1000;
  await desk.tasks.clearCategories();
  expect([...desk.store.keys(clearedCategories)]).toEqual([]);
  expect([...desk.store.keys(taskCounts, [ACCOUNT])].map(([, scope]) => scope)).toEqual(['*', '2']);
  await expectSameLists(desk, model, 100, () => [0]);
  expect(verifyTasks(new CheckedReader(desk.store)).problems).toEqual([]);
  await desk.close();
}
