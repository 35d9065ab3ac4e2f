/** Holds the tasks against the plainest ones that could be right, under random and under many writes. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import type { TaskFields } from '../../src/tasks/fields.ts';
import { defined } from '../../src/tasks/fields.ts';
import { SORT_FIELDS, type TaskFilter } from '../../src/tasks/list/query.ts';
import { openZone, type TaskSearch } from '../../src/tasks/list/search.ts';
import { clearedCategories, KANBAN_STATUSES, type TaskRecord, taskCounts } from '../../src/tasks/records.ts';
import { verifyTasks } from '../../src/tasks/verify.ts';
import { dayNumber } from '../../src/time/calendar.ts';
import { compare, Model, type ModelFilter } from './model.ts';
import { type Desk, openDesk } from './support.ts';

const ACCOUNT = 'acc_one';
const OTHER = 'acc_two';
const DAY_MS = 24 * 3600 * 1000;
const DATES = ['2026-11-18', '2026-11-20', '2026-11-21', '2027-02-28', '0001-01-01', '9999-12-31'];
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

/** Every filter in every order: all pages, the totals, and the first finds of a search. */
/** What a search finds, as records: all of them are live. */
async function searched(tasks: Desk['tasks'], search: TaskSearch) {
  const { tasks: texts, ...rest } = await tasks.searchTexts(ACCOUNT, search);
  return { tasks: texts.map((text) => ({ ...(JSON.parse(text) as TaskRecord), deleted_at: null })), ...rest };
}

async function expectSameLists(
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
          expect({ plain, order, page, ...found }).toEqual({
            plain,
            order,
            page,
            tasks: expected.slice(offset, offset + limit),
            total: expected.length,
          });
        }
        const finds = await searched(tasks, { filter, order, limit, zone: openZone('UTC') });
        expect(finds).toEqual({ tasks: expected.slice(0, limit), hasMore: expected.length > limit, complete: true });
      }
    }
  }
}

function expectSameCategories({ tasks }: Desk, model: Model): void {
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
async function expectSameSearches({ tasks }: Desk, model: Model): Promise<void> {
  const zone = openZone('Asia/Seoul');
  const seoulDay = (at: string) => new Date(Date.parse(at) + 9 * 3600 * 1000).toISOString().slice(0, 10);
  const createdOn = { from: '2026-11-21' };
  const completedOn = { from: '2026-11-21', to: '2026-11-25' };
  for (const sortBy of SORT_FIELDS) {
    const order = { sortBy, descending: true };
    const sorted = model.live().sort((a, b) => compare(a, b, order));
    const search = { filter: {}, order, limit: 500, zone };
    const texts = sorted.filter(({ content }) => content.toLowerCase().includes('zebra'));
    expect((await searched(tasks, { ...search, text: 'ZEBRA' })).tasks).toEqual(texts);
    const created = sorted.filter((task) => seoulDay(task.created_at) >= createdOn.from);
    expect((await searched(tasks, { ...search, createdOn })).tasks).toEqual(created);
    const completed = sorted.filter(({ completed_at: at }) => {
      const day = at === null ? '' : seoulDay(at);
      return day >= completedOn.from && day <= completedOn.to;
    });
    expect((await searched(tasks, { ...search, completedOn })).tasks).toEqual(completed);
  }
}

type Command = fc.AsyncCommand<Model, Desk>;

/** What a command does to both; they must answer alike. */
function command(name: string, run: (model: Model, desk: Desk) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

const fieldsArbitrary: fc.Arbitrary<TaskFields & { readonly content: string }> = fc.record(
  {
    content: fc.constantFrom(...CONTENTS),
    due_date: fc.option(fc.constantFrom(...DATES)),
    is_important: fc.boolean(),
    kanban_status: fc.constantFrom(...KANBAN_STATUSES),
    category_id: fc.option(fc.integer({ min: 1, max: 4 })),
  },
  { requiredKeys: ['content'] },
);

const patchArbitrary: fc.Arbitrary<TaskFields> = fc.oneof(
  fieldsArbitrary,
  fc.record({ completed: fc.boolean() }),
  fc.record({ is_important: fc.boolean() }),
  fc.record({ due_date: fc.option(fc.constantFrom(...DATES)) }),
);

/** Leaves a category out that is not there, as a caller would. */
function possible(model: Model, fields: TaskFields): TaskFields {
  const { category_id: id, ...rest } = fields;
  return id === undefined || (id !== null && !model.categories.some((known) => known.id === id)) ? rest : fields;
}

const idArbitrary = fc.integer({ min: 1, max: 30 });

const commandArbitraries: fc.Arbitrary<Command>[] = [
  ...Array.from({ length: 4 }, () =>
    fieldsArbitrary.map((fields) =>
      command(`create ${JSON.stringify(fields)}`, async (model, { tasks, clock }) => {
        const made = possible(model, fields);
        expect(await tasks.create(ACCOUNT, made)).toEqual(model.create(made, clock.ms));
      }),
    ),
  ),
  ...Array.from({ length: 3 }, () =>
    fc.tuple(idArbitrary, patchArbitrary).map(([id, fields]) =>
      command(`patch ${id} ${JSON.stringify(fields)}`, async (model, { tasks, clock }) => {
        if (model.find(id) === undefined) return;
        const written = possible(model, fields);
        model.patch(id, written, clock.ms);
        expect(await tasks.patch(ACCOUNT, id, written)).toEqual(model.find(id));
      }),
    ),
  ),
  idArbitrary.map((id) =>
    command(`remove ${id}`, async (model, { tasks, clock }) => {
      if (model.find(id) === undefined) return;
      model.remove(id, clock.ms);
      expect((await tasks.remove(ACCOUNT, id)).wasBinned).toBe(false);
    }),
  ),
  idArbitrary.map((id) =>
    command(`restore ${id}`, async (model, { tasks, clock }) => {
      if (!model.tasks.some((task) => task.id === id)) return;
      model.restore(id, clock.ms);
      expect(await tasks.patch(ACCOUNT, id, {}, { restore: true })).toEqual(model.find(id));
    }),
  ),
  fc.integer({ min: 0, max: 9 }).map((position) =>
    command(`category at ${position}`, async (model, { tasks }) => {
      const { id, name } = await tasks.categories.create(ACCOUNT, { name: `c${model.lastCategory}`, position });
      model.lastCategory += 1;
      expect(id).toBe(model.lastCategory);
      model.categories.push({ id, name, position });
    }),
  ),
  fc.integer({ min: 1, max: 4 }).map((id) =>
    command(`remove category ${id}`, async (model, { tasks }) => {
      if (!model.categories.some((category) => category.id === id)) return;
      await tasks.categories.remove(ACCOUNT, id);
      model.removeCategory(id);
    }),
  ),
  fc.constantFrom(-1000, 0, 1, DAY_MS, 16 * DAY_MS).map((ms) =>
    command(`clock ${ms}`, async (_model, { clock }) => {
      clock.ms += ms;
    }),
  ),
  fc.constant(
    command('empty the bin', async (model, { tasks, clock }) => {
      expect(await tasks.emptyBin(clock.ms)).toBe(model.emptyBin(clock.ms));
    }),
  ),
];

test('[TASK-3, TASK-5, TASK-6, CAT-1] random writes leave every list, total and counter as a plain model has them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commandArbitraries, { maxCommands: 100, size: 'max' }), async (commands) => {
      const desk = openDesk();
      const model = new Model();
      try {
        await desk.tasks.create(OTHER, { content: 'not yours' });
        await fc.asyncModelRun(() => ({ model, real: desk }), commands);
        await expectSameLists(desk, model, 7, (count) => Array.from({ length: count + 1 }, (_, page) => page));
        await expectSameSearches(desk, model);
        expectSameCategories(desk, model);
        expect(desk.tasks.get(OTHER, 1).content).toBe('not yours');
        expect(verifyTasks(new CheckedReader(desk.store)).problems).toEqual([]);
      } finally {
        await desk.close();
      }
    }),
    { numRuns: 25 },
  );
}, 240_000);

test('[TASK-3] 10,000 tasks: every filter in every order gives the right pages and totals', async () => {
  const desk = openDesk();
  const model = new Model();
  for (const name of ['one', 'two']) {
    const { id, position } = await desk.tasks.categories.create(ACCOUNT, { name });
    model.categories.push({ id, name, position });
  }
  const seed = 20261120;
  const made = fc.sample(fieldsArbitrary, { numRuns: 10_000, seed });
  for (let first = 0; first < made.length; first += 500) {
    desk.clock.ms += 1000;
    const wanted = made.slice(first, first + 500).map((fields) => possible(model, fields));
    const created = await Promise.all(wanted.map((fields) => desk.tasks.create(ACCOUNT, fields)));
    expect(created).toEqual(wanted.map((fields) => model.create(fields, desk.clock.ms)));
  }
  await expectSameLists(desk, model, 100, (count) => [0, 1, count >> 1, count - 1, count].filter((page) => page >= 0));
  expect(verifyTasks(new CheckedReader(desk.store))).toEqual({ tasks: 10_000, categories: 2, problems: [] });
  await desk.tasks.categories.remove(ACCOUNT, 1);
  model.removeCategory(1);
  // Thousands of tasks have it in their records still: that shows nowhere, before they are rewritten and after.
  expect([...desk.store.keys(clearedCategories)]).toEqual([[ACCOUNT, 1]]);
  await expectSameLists(desk, model, 100, () => [0]);
  expect(verifyTasks(new CheckedReader(desk.store)).problems).toEqual([]);
  await desk.tasks.clearCategories();
  expect([...desk.store.keys(clearedCategories)]).toEqual([]);
  expect([...desk.store.keys(taskCounts, [ACCOUNT])].map(([, scope]) => scope)).toEqual(['*', '2']);
  await expectSameLists(desk, model, 100, () => [0]);
  expect(verifyTasks(new CheckedReader(desk.store)).problems).toEqual([]);
  await desk.close();
}, 240_000);
