/** Proves the rules of tasks and categories through the service itself, under a clock that the test moves. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Log } from '../../src/common/log.ts';
import { Sweeper } from '../../src/compose/sweeper.ts';
import { readFields } from '../../src/fields/read.ts';
import { limits } from '../../src/limits/service.ts';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import { categoryChange, newCategory } from '../../src/tasks/fields.ts';
import { taskCounts, taskRows } from '../../src/tasks/records.ts';
import { verifyTasks } from '../../src/tasks/verify.ts';
import { forge } from '../support/forge.ts';
import { createFrom, type Desk, faultOf, openDesk, patchFrom, refusedFields, START_MS } from './support.ts';

const DAY_MS = 24 * 3600 * 1000;
let desk: Desk;
let accounts = 0;

beforeAll(() => {
  desk = openDesk();
});

afterAll(async () => {
  expect(verifyTasks(new CheckedReader(desk.store)).problems).toEqual([]);
  await desk.close();
});

/** An account of its own for each test. */
function account(): string {
  accounts += 1;
  desk.clock.ms = START_MS;
  return `acc_${accounts}`;
}

const at = (ms: number) => new Date(ms).toISOString();

test('[TASK-1] a new task has every field, and its number is counted per account', async () => {
  const { tasks } = desk;
  const [one, two] = [account(), account()];
  expect(await tasks.create(one, { content: ' buy milk ' })).toEqual({
    id: 1,
    content: ' buy milk ',
    due_date: null,
    is_important: false,
    completed: false,
    completed_at: null,
    category_id: null,
    kanban_status: 'todo',
    version: 1,
    created_at: at(START_MS),
    updated_at: at(START_MS),
    deleted_at: null,
  });
  expect((await tasks.create(one, { content: 'b' })).id).toBe(2);
  expect((await tasks.create(two, { content: 'c' })).id).toBe(1);
  expect(tasks.get(one, 2).content).toBe('b');
  expect(await faultOf(() => tasks.get(two, 2))).toMatchObject({ kind: 'not_found', what: 'task not found' });
});

test('[TASK-1] a number is not given again after its task is gone for good', async () => {
  const { tasks, clock } = desk;
  const who = account();
  await tasks.create(who, { content: 'a' });
  await tasks.remove(who, 1);
  clock.ms += 31 * DAY_MS;
  expect(await tasks.emptyBin(clock.ms)).toBe(1);
  expect((await tasks.create(who, { content: 'b' })).id).toBe(2);
});

test.each([
  ['content', ''],
  ['content', ' \n\t'],
  ['content', 'x'.repeat(10_001)],
  ['content', 7],
  ['content', null],
  ['content', 'half \ud83d'],
  ['due_date', '2026-02-29'],
  ['due_date', '2026-1-1'],
  ['due_date', '2026-11-20T00:00:00Z'],
  ['due_date', 20261120],
  ['is_important', 'yes'],
  ['is_important', null],
  ['completed', 1],
  ['completed', null],
  ['category_id', 'home'],
  ['category_id', 0],
  ['category_id', 1.5],
  ['category_id', 4711],
  ['kanban_status', 'finished'],
  ['kanban_status', null],
])('[TASK-1, TASK-4] a wrong %s is refused, new or changed: %j', async (field, value) => {
  const { tasks } = desk;
  const who = account();
  const { id } = await tasks.create(who, { content: 'kept' });
  expect(Object.keys(await refusedFields(() => createFrom(tasks, who, { content: 'a', [field]: value })))).toEqual([
    field,
  ]);
  expect(Object.keys(await refusedFields(() => patchFrom(tasks, who, id, { [field]: value })))).toEqual([field]);
  expect(tasks.get(who, id).updated_at).toBe(at(START_MS));
});

test('[TASK-1] the longest content and the ends of the calendar are taken', async () => {
  const { tasks } = desk;
  const who = account();
  for (const due of ['0000-01-01', '2024-02-29', '9999-12-31']) {
    expect((await tasks.create(who, { content: 'x'.repeat(10_000), due_date: due })).due_date).toBe(due);
  }
});

test('[TASK-4] all that is wrong is told at once, and an unknown member with a guess', async () => {
  const fields = await refusedFields(() =>
    createFrom(desk.tasks, account(), {
      due_date: 'soon',
      category_id: 9,
      importent: true,
      is_importent: true,
      id: 5,
      __proto: 1,
    }),
  );
  expect(Object.keys(fields).sort()).toEqual([
    '__proto',
    'category_id',
    'content',
    'due_date',
    'id',
    'importent',
    'is_importent',
  ]);
  expect(fields['content']).toEqual(['content is required']);
  expect(fields['is_importent']).toEqual(['is_importent is not a known field; did you mean is_important?']);
});

test.each([[undefined], [null], ['text'], [[]]])(
  '[TASK-4] a body that is not an object is refused: %j',
  async (document) => {
    const who = account();
    await desk.tasks.create(who, { content: 'a' });
    expect(Object.keys(await refusedFields(() => createFrom(desk.tasks, who, document)))).toEqual(['body']);
    expect(Object.keys(await refusedFields(() => patchFrom(desk.tasks, who, 1, document)))).toEqual(['body']);
  },
);

test.each([
  [{ kanban_status: 'done' }, 'done', true],
  [{ completed: true }, 'done', true],
  [{ completed: false }, 'todo', false],
  [{ completed: true, kanban_status: 'done' }, 'done', true],
  [{ completed: false, kanban_status: 'backlog' }, 'backlog', false],
])('[TASK-2] a new task with %j is %s', async (fields, status, completed) => {
  const task = await createFrom(desk.tasks, account(), { content: 'a', ...fields });
  expect(task).toMatchObject({
    kanban_status: status,
    completed,
    completed_at: completed ? at(START_MS) : null,
  });
});

test('[TASK-2] status and completion follow each other, and the time of completion is kept', async () => {
  const { tasks, clock } = desk;
  const who = account();
  await tasks.create(who, { content: 'a', kanban_status: 'in_progress' });
  clock.ms += 1000;
  const done = { kanban_status: 'done', completed: true, completed_at: at(START_MS + 1000) };
  expect(await tasks.patch(who, 1, { completed: true })).toMatchObject(done);
  clock.ms += 1000;
  expect(await tasks.patch(who, 1, { kanban_status: 'done', content: 'b' })).toMatchObject(done);
  const open = { completed: false, completed_at: null };
  expect(await tasks.patch(who, 1, { completed: false })).toMatchObject({ ...open, kanban_status: 'todo' });
  expect(await tasks.patch(who, 1, { kanban_status: 'done' })).toMatchObject({ completed_at: at(clock.ms) });
  expect(await tasks.patch(who, 1, { kanban_status: 'backlog' })).toMatchObject({ ...open, kanban_status: 'backlog' });
  expect(await tasks.patch(who, 1, { completed: false })).toMatchObject({ ...open, kanban_status: 'backlog' });
});

test.each([[{ completed: true, kanban_status: 'todo' }], [{ completed: false, kanban_status: 'done' }]])(
  '[TASK-2] %j is refused on both fields',
  async (fields) => {
    const { tasks } = desk;
    const who = account();
    await tasks.create(who, { content: 'a' });
    const both = ['completed', 'kanban_status'];
    expect(Object.keys(await refusedFields(() => createFrom(tasks, who, { content: 'a', ...fields }))).sort()).toEqual(
      both,
    );
    expect(Object.keys(await refusedFields(() => patchFrom(tasks, who, 1, fields))).sort()).toEqual(both);
  },
);

test('[TASK-4] a change touches what it names, null clears, and a change of nothing keeps its time', async () => {
  const { tasks, clock } = desk;
  const who = account();
  const { id: category } = await tasks.categories.create(who, { name: 'home' });
  const made = await tasks.create(who, { content: 'a', due_date: '2026-12-01', category_id: category });
  clock.ms += 5;
  expect(await tasks.patch(who, 1, { is_important: true })).toEqual({
    ...made,
    is_important: true,
    version: 2,
    updated_at: at(clock.ms),
  });
  const cleared = await tasks.patch(who, 1, { due_date: null, category_id: null });
  expect(cleared).toMatchObject({ due_date: null, category_id: null, content: 'a' });
  clock.ms += 5;
  expect(await tasks.patch(who, 1, { is_important: true, due_date: null })).toEqual(cleared);
  expect(await tasks.patch(who, 1, {})).toEqual(cleared);
});

test('[TASK-6] a deleted task is nowhere, comes back for 30 days, and then is gone', async () => {
  const { tasks, clock } = desk;
  const who = account();
  const { id: category } = await tasks.categories.create(who, { name: 'home' });
  await tasks.create(who, { content: 'a', category_id: category, due_date: '2026-12-01' });
  const removed = await tasks.remove(who, 1);
  expect(removed).toMatchObject({ wasBinned: false, task: { deleted_at: at(START_MS) } });
  const page = { filter: {}, order: { sortBy: 'due_date', descending: false }, offset: 0, limit: 25 } as const;
  expect(tasks.list(who, page)).toEqual({ tasks: [], total: 0 });
  expect(tasks.categories.get(who, category).task_count).toBe(0);
  for (const refused of [() => tasks.get(who, 1), () => tasks.patch(who, 1, { content: 'b' })]) {
    expect((await faultOf(refused)).kind).toBe('not_found');
  }
  clock.ms += 1000;
  expect(await tasks.remove(who, 1)).toEqual({ ...removed, wasBinned: true });
  clock.ms = START_MS + 30 * DAY_MS - 1;
  expect(await tasks.emptyBin(clock.ms)).toBe(0);
  const back = await tasks.patch(who, 1, { content: 'c' }, { restore: true });
  expect(back).toMatchObject({ content: 'c', category_id: category, deleted_at: null, updated_at: at(clock.ms) });
  expect(await tasks.patch(who, 1, { content: 'c' }, { restore: true })).toEqual(back);
  expect(tasks.list(who, page).total).toBe(1);
  await tasks.remove(who, 1);
  clock.ms += 30 * DAY_MS;
  expect(await tasks.emptyBin(clock.ms)).toBe(1);
  expect((await faultOf(() => tasks.patch(who, 1, {}, { restore: true }))).kind).toBe('not_found');
  expect((await faultOf(() => tasks.remove(who, 1))).kind).toBe('not_found');
});

test('[TASK-6] emptying the bin takes more than one round of it, of several accounts', async () => {
  const { tasks, clock } = desk;
  const who = [account(), account()];
  for (const one of who) {
    const made = Array.from({ length: limits.binRowsMax / 2 + 5 }, () => tasks.create(one, { content: 'a' }));
    await Promise.all((await Promise.all(made)).map(({ id }) => tasks.remove(one, id)));
  }
  await tasks.create(who[0] ?? '', { content: 'stays' });
  clock.ms += 30 * DAY_MS;
  expect(await tasks.emptyBin(clock.ms)).toBe(limits.binRowsMax + 10);
  expect(await tasks.emptyBin(clock.ms)).toBe(0);
});

test('[TASK-6] the bin is emptied in the background, and a round that fails does not stop the next', async () => {
  const rounds: number[] = [];
  const lines: string[] = [];
  const log = {
    info: (_: object, line: string) => lines.push(line),
    warn: (_: object, line: string) => lines.push(line),
  };
  const fails = {
    what: 'tasks',
    byAge: false,
    async run(): Promise<number> {
      rounds.push(1);
      throw new Error('no');
    },
  };
  const works = { what: 'documents', byAge: true, run: async () => rounds.push(2) };
  const watch = { isRight: () => true, note: () => Promise.resolve() };
  const sweeper = new Sweeper([fails, works], watch, log as unknown as Log);
  sweeper.start();
  await sweeper.close();
  expect(rounds).toEqual([1, 2]);
  expect(lines).toEqual(['the trash was not emptied; the next round tries again', 'emptied the trash']);
});

test('[CAT-1] a category is made, changed, listed by position and counted', async () => {
  const { tasks, clock } = desk;
  const who = account();
  const home = await tasks.categories.create(who, readFields(newCategory, { name: '  Home ', color: '#AABB0c' }));
  expect(home).toEqual({
    id: 1,
    name: 'Home',
    color: '#aabb0c',
    position: 0,
    task_count: 0,
    created_at: at(START_MS),
    updated_at: at(START_MS),
  });
  const work = await tasks.categories.create(who, { name: 'Work' });
  expect(work).toMatchObject({ id: 2, position: 1, color: null });
  clock.ms += 1;
  await tasks.create(who, { content: 'a', category_id: 2 });
  expect(await tasks.categories.patch(who, 1, { position: 5, color: null })).toEqual({
    ...home,
    position: 5,
    color: null,
    updated_at: at(clock.ms),
  });
  expect(tasks.categories.list(who).map(({ id, task_count }) => [id, task_count])).toEqual([
    [2, 1],
    [1, 0],
  ]);
  expect(await tasks.categories.patch(who, 2, { name: 'WORK' })).toMatchObject({ name: 'WORK', task_count: 1 });
  expect((await tasks.categories.create(who, { name: 'behind' })).position).toBe(6);
});

test('[CAT-1] a name is unique per account in either case', async () => {
  const { categories } = desk.tasks;
  const [one, two] = [account(), account()];
  await categories.create(one, { name: 'Übung' });
  await categories.create(one, { name: 'b' });
  expect(
    Object.keys(await refusedFields(() => categories.create(one, readFields(newCategory, { name: ' üBUNG' })))),
  ).toEqual(['name']);
  expect(
    Object.keys(
      await refusedFields(() => categories.patch(one, 2, readFields(categoryChange, { name: 'U\u0308bung' }))),
    ),
  ).toEqual(['name']);
  expect((await categories.create(two, { name: 'übung' })).id).toBe(1);
  expect((await faultOf(() => categories.get(two, 2))).kind).toBe('not_found');
});

test.each([
  ['name', ''],
  ['name', '  '],
  ['name', 'x'.repeat(101)],
  ['name', 'a\u0000b'],
  ['name', 5],
  ['color', 'red'],
  ['color', '#12345'],
  ['color', 7],
  ['position', -1],
  ['position', 1.5],
  ['position', '1'],
  ['position', 1_000_001],
  ['colour', '#123456'],
])('[CAT-1] a wrong %s is refused, new or changed: %j', async (field, value) => {
  const { categories } = desk.tasks;
  const who = account();
  await categories.create(who, { name: 'kept' });
  expect(
    Object.keys(
      await refusedFields(() => categories.create(who, readFields(newCategory, { name: 'a', [field]: value }))),
    ),
  ).toEqual([field]);
  expect(
    Object.keys(await refusedFields(() => categories.patch(who, 1, readFields(categoryChange, { [field]: value })))),
  ).toEqual([field]);
});

test('[CAT-1] the most categories that one account takes', async () => {
  const { categories } = desk.tasks;
  const who = account();
  await Promise.all(Array.from({ length: limits.categoriesMax }, (_, n) => categories.create(who, { name: `c${n}` })));
  expect(Object.keys(await refusedFields(() => categories.create(who, { name: 'more' })))).toEqual(['name']);
  await categories.remove(who, 1);
  expect((await categories.create(who, { name: 'more' })).id).toBe(limits.categoriesMax + 1);
});

test('[CAT-1] deleting a category clears it on its tasks, and on a binned one when that comes back', async () => {
  const { tasks, clock } = desk;
  const who = account();
  await tasks.categories.create(who, { name: 'home' });
  for (const content of ['a', 'b', 'c']) await tasks.create(who, { content, category_id: 1, due_date: '2026-12-01' });
  await tasks.remove(who, 3);
  clock.ms += 10;
  await tasks.categories.remove(who, 1);
  // Nobody wrote the task itself.
  expect(tasks.get(who, 1)).toMatchObject({ category_id: null, updated_at: at(START_MS) });
  const page = { order: { sortBy: 'created_at', descending: false }, offset: 0, limit: 25 } as const;
  expect(tasks.list(who, { ...page, filter: { categoryId: 1 } }).total).toBe(0);
  expect(tasks.list(who, { ...page, filter: {} }).total).toBe(2);
  expect(await tasks.patch(who, 3, {}, { restore: true })).toMatchObject({ category_id: null });
  expect((await faultOf(() => tasks.categories.remove(who, 1))).kind).toBe('not_found');
  expect((await tasks.categories.create(who, { name: 'home' })).id).toBe(2);
});

test('a row or a counter that is off is found', async () => {
  const broken = openDesk();
  await broken.tasks.create('acc_1', { content: 'a', due_date: '2026-12-01' });
  await forge(broken.store, (batch) => {
    batch.put(taskCounts, ['acc_1', '*'], { counts: [0, 0, 5, 0, 0, 0, 0, 0] });
    batch.put(taskRows, ['acc_1', '*:created:1', 5, 9], 3);
    for (const { key } of batch.range(taskRows, { prefix: ['acc_1', '*:content:2'] })) batch.remove(taskRows, key);
    batch.put(taskRows, ['acc_1', '*:content:2', 'a', 8], 3);
  });
  expect(verifyTasks(new CheckedReader(broken.store)).problems).toEqual([
    'task acc_1 1: wrong position in *:content:2',
    'orders of tasks: 5 rows instead of 4',
    'counter acc_1 *: 0,0,5,0,0,0,0,0 instead of 0,0,1,0,0,0,0,0',
  ]);
  await broken.close();
});
