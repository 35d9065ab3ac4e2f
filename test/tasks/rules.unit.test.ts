/** What a write makes of a task and of a category: every field, the status and its completion, times, and limits. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import type { CategoryRecord, TaskRecord } from '../../src/tasks/declared.ts';
import type { CategoryFields, TaskFields } from '../../src/tasks/fields.ts';
import type { TaskHead } from '../../src/tasks/records.ts';
import {
  binCutoffMs,
  categoryNotFound,
  decideBinTask,
  decideCreateCategory,
  decideCreateTask,
  decidePatchCategory,
  decidePatchTask,
  decideRestore,
  disagreement,
  foldCategoryName,
  taskNotFound,
} from '../../src/tasks/rules.ts';
import { refusedWith } from '../support/refused.ts';

const NOW_MS = Date.parse('2026-11-20T20:00:00.000Z');
const at = (ms: number) => new Date(NOW_MS + ms).toISOString();

const TASK: TaskRecord = {
  id: 4,
  content: 'buy milk',
  due_date: '2026-12-01',
  is_important: false,
  completed: false,
  completed_at: null,
  category_id: 2,
  kanban_status: 'todo',
  version: 3,
  created_at: at(-9000),
  updated_at: at(-5000),
  deleted_at: null,
  changed_by: 'a key',
};
const DONE: TaskRecord = { ...TASK, kanban_status: 'done', completed: true, completed_at: at(-5000) };

const DAY_MS = 86_400_000;

describe('[TASK-2] status and completion', () => {
  test.each<[fields: TaskFields, disagree: boolean]>([
    [{}, false],
    [{ completed: true }, false],
    [{ kanban_status: 'done' }, false],
    [{ completed: true, kanban_status: 'done' }, false],
    [{ completed: false, kanban_status: 'todo' }, false],
    [{ completed: true, kanban_status: 'todo' }, true],
    [{ completed: false, kanban_status: 'done' }, true],
  ])('%j disagree: %s', (fields, disagree) => {
    expect(Object.keys(disagreement(fields))).toEqual(disagree ? ['kanban_status', 'completed'] : []);
  });

  test.each<[fields: Omit<TaskFields, 'content'>, status: string]>([
    [{}, 'todo'],
    [{ completed: false }, 'todo'],
    [{ completed: true }, 'done'],
    [{ kanban_status: 'backlog' }, 'backlog'],
    [{ kanban_status: 'in_progress' }, 'in_progress'],
    [{ kanban_status: 'done' }, 'done'],
  ])('a new task with %j is %s', (fields, status) => {
    const { task } = decideCreateTask({ ...fields, content: 'x' }, undefined, NOW_MS);
    const isDone = status === 'done';
    expect(task).toMatchObject({ kanban_status: status, completed: isDone, completed_at: isDone ? at(0) : null });
  });

  test.each<[task: TaskRecord, fields: TaskFields, status: string, completedAt: string | null]>([
    [TASK, { completed: true }, 'done', at(0)],
    [TASK, { kanban_status: 'done' }, 'done', at(0)],
    [TASK, { completed: false }, 'todo', null],
    [TASK, { kanban_status: 'in_progress' }, 'in_progress', null],
    [{ ...TASK, kanban_status: 'backlog' }, { completed: false }, 'backlog', null],
    [DONE, { completed: true }, 'done', at(-5000)],
    [DONE, { content: 'more' }, 'done', at(-5000)],
    [DONE, { completed: false }, 'todo', null],
    [DONE, { kanban_status: 'backlog' }, 'backlog', null],
  ])('%o with %j becomes %s, completed at %s', (task, fields, status, completedAt) => {
    expect(decidePatchTask(task, fields, NOW_MS)).toMatchObject({
      kanban_status: status,
      completed: status === 'done',
      completed_at: completedAt,
    });
  });
});

describe('[TASK-1] a new task', () => {
  const head: TaskHead = { task_id: 7, category_id: 3, created_at: at(-1) };
  test('has every field that was sent', () => {
    const fields = { content: 'x', due_date: '2026-12-24', is_important: true, category_id: 3 } as const;
    const { task, head: next } = decideCreateTask(fields, head, NOW_MS, 'a browser');
    expect(task).toEqual({
      ...fields,
      id: 8,
      completed: false,
      completed_at: null,
      kanban_status: 'todo',
      version: 1,
      created_at: at(0),
      updated_at: at(0),
      deleted_at: null,
      changed_by: 'a browser',
    });
    expect(next).toEqual({ task_id: 8, category_id: 3, created_at: at(0) });
  });

  test('has defaults for the others', () => {
    const { task, head: next } = decideCreateTask({ content: 'x' }, undefined, NOW_MS);
    expect(task).toMatchObject({ id: 1, content: 'x', due_date: null, is_important: false, category_id: null });
    expect(task).not.toHaveProperty('changed_by');
    expect(next).toEqual({ task_id: 1, category_id: 0, created_at: at(0) });
  });

  test.each<[title: string, lastMs: number, ms: number]>([
    ['after the newest', -1, 0],
    ['in the same millisecond', 0, 0],
    ['while the clock is a little behind', 5000, 5000],
    ['after a clock that was wrong by years', 5 * 365 * DAY_MS, 0],
  ])('made %s is never older than the newest', (_, lastMs, ms) => {
    const { task, head: next } = decideCreateTask({ content: 'x' }, { ...head, created_at: at(lastMs) }, NOW_MS);
    expect([task.created_at, task.updated_at, next.created_at]).toEqual([at(ms), at(ms), at(ms)]);
  });
});

describe('[TASK-4, TASK-8] a change of a task', () => {
  test.each<[fields: TaskFields, changed: Partial<TaskRecord>]>([
    [{ content: 'buy tea' }, { content: 'buy tea' }],
    [{ due_date: '2026-12-02' }, { due_date: '2026-12-02' }],
    [{ due_date: null }, { due_date: null }],
    [{ is_important: true }, { is_important: true }],
    [{ category_id: 9 }, { category_id: 9 }],
    [{ category_id: null }, { category_id: null }],
    [{ kanban_status: 'backlog' }, { kanban_status: 'backlog' }],
  ])('%j changes that alone, the version, the time and who', (fields, changed) => {
    const next = decidePatchTask(TASK, fields, NOW_MS, 'a device');
    expect(next).toEqual({ ...TASK, ...changed, version: 4, updated_at: at(0), changed_by: 'a device' });
  });

  test.each<TaskFields>([
    {},
    { content: 'buy milk' },
    { due_date: '2026-12-01', is_important: false, category_id: 2, kanban_status: 'todo', completed: false },
    { expected_version: 3 },
  ])('%j changes nothing', (fields) => {
    expect(decidePatchTask(TASK, fields, NOW_MS, 'a device')).toBe(TASK);
  });

  test('names nobody when it is not known who', () => {
    expect(decidePatchTask(TASK, { content: 'x' }, NOW_MS)).not.toHaveProperty('changed_by');
  });

  test('is never older than the one before', () => {
    const task = { ...TASK, updated_at: at(5000) };
    expect(decidePatchTask(task, { completed: true }, NOW_MS)).toMatchObject({
      updated_at: at(5000),
      completed_at: at(5000),
    });
  });
});

describe('[TASK-6, TASK-8] the trash', () => {
  const binned = { ...TASK, deleted_at: at(-1000), changed_by: 'a device' };
  test('a deleted task keeps its version and its time', () => {
    expect(decideBinTask(TASK, NOW_MS, 'a device')).toEqual({ ...TASK, deleted_at: at(0), changed_by: 'a device' });
  });
  test.each<[categoryExists: boolean, category: number | null, updatedMs: number, ms: number]>([
    [true, 2, -5000, 0],
    [false, null, -5000, 0],
    [true, 2, 5000, 5000],
  ])('a restored one, its category there: %s', (exists, category_id, updatedMs, ms) => {
    expect(decideRestore({ ...binned, updated_at: at(updatedMs) }, exists, NOW_MS, 'a browser')).toEqual({
      ...TASK,
      category_id,
      updated_at: at(ms),
      changed_by: 'a browser',
    });
  });
  test('it is emptied of what is older than 30 days', () => {
    expect([limits.binDays, NOW_MS - binCutoffMs(NOW_MS)]).toEqual([30, 30 * 24 * 3_600_000]);
  });
  test('what is not found says where to look', () => {
    expect(
      refusedWith(() => {
        throw taskNotFound();
      }),
    ).toMatchObject({ kind: 'not_found', next: 'list_tasks lists all' });
    expect(
      refusedWith(() => {
        throw taskNotFound(true);
      }),
    ).toMatchObject({ next: expect.stringContaining('trash') });
    expect(
      refusedWith(() => {
        throw categoryNotFound();
      }),
    ).toMatchObject({ next: 'list_categories lists all' });
  });
});

const categoryOf = (id: number, changes: Partial<CategoryRecord> = {}): CategoryRecord => ({
  id,
  name: `category ${id}`,
  color: null,
  position: id,
  created_at: at(-9000),
  updated_at: at(-5000),
  ...changes,
});
const many = (count: number) => Array.from({ length: count }, (_, place) => categoryOf(place));

describe('[CAT-1] a new category', () => {
  const head: TaskHead = { task_id: 7, category_id: 3, created_at: at(-1) };
  type Row = [
    title: string,
    fields: Omit<CategoryFields, 'name'>,
    existing: readonly CategoryRecord[],
    expected: Partial<CategoryRecord>,
  ];
  test.each<Row>([
    ['is the first', {}, [], { name: 'x', color: null, position: 0 }],
    ['is the last', {}, [categoryOf(1, { position: 5 }), categoryOf(2)], { position: 6 }],
    ['is where it was put', { position: 1 }, many(3), { position: 1 }],
    ['is where it was put, at the beginning', { position: 0 }, many(3), { position: 0 }],
    [
      'is in the last place when there is no later one',
      {},
      [categoryOf(1, { position: limits.categoryPositionMax })],
      { position: limits.categoryPositionMax },
    ],
    ['has its color', { color: '#00ff00' }, [], { color: '#00ff00' }],
    ['is the last that fits', {}, many(limits.categoriesMax - 1), { name: 'x' }],
  ])('%s', (_, fields, existing, expected) => {
    const { category, head: next } = decideCreateCategory({ ...fields, name: 'x' }, existing, head, NOW_MS);
    expect(category).toMatchObject({ id: 4, created_at: at(0), updated_at: at(0), ...expected });
    expect(next).toEqual({ ...head, category_id: 4 });
  });

  test('is number 1 in a new account', () => {
    expect(decideCreateCategory({ name: 'x' }, [], undefined, NOW_MS)).toMatchObject({
      category: { id: 1, name: 'x' },
      head: { task_id: 0, category_id: 1 },
    });
  });

  test.each<[title: string, name: string, existing: readonly CategoryRecord[]]>([
    ['with a name in use', 'a', [categoryOf(1, { name: 'a' })]],
    ['with a name in use in another case', 'CAFÉ', [categoryOf(1, { name: 'cafe\u0301' })]],
    ['beside as many as there may be', 'x', many(limits.categoriesMax)],
  ])('%s is refused', (_, name, existing) => {
    const refused = refusedWith(() => decideCreateCategory({ name }, existing, head, NOW_MS));
    expect(refused).toEqual({ kind: 'invalid_fields', fields: ['name'] });
  });
});

describe('[CAT-1] a change of a category', () => {
  const category = categoryOf(2, { name: 'Home', color: '#ffffff' });
  const all = [categoryOf(1, { name: 'work' }), category];
  test.each<[fields: CategoryFields, changed: Partial<CategoryRecord> | undefined]>([
    [{ name: 'house' }, { name: 'house' }],
    [{ name: 'HOME' }, { name: 'HOME' }],
    [{ color: '#000000' }, { color: '#000000' }],
    [{ color: null }, { color: null }],
    [{ position: 0 }, { position: 0 }],
    [{}, undefined],
    [{ name: 'Home', color: '#ffffff', position: 2 }, undefined],
  ])('%j', (fields, changed) => {
    const next = decidePatchCategory(category, fields, all, NOW_MS);
    if (changed === undefined) expect(next).toBe(category);
    else expect(next).toEqual({ ...category, ...changed, updated_at: at(0) });
  });

  test('to a name in use is refused', () => {
    const refused = refusedWith(() => decidePatchCategory(category, { name: 'Work' }, all, NOW_MS));
    expect(refused).toEqual({ kind: 'invalid_fields', fields: ['name'] });
  });

  test.each<[string, string, boolean]>([
    ['a', 'A', true],
    ['é', 'E\u0301', true],
    ['a', 'b', false],
  ])('the names %s and %s are the same: %s', (one, other, same) => {
    expect(foldCategoryName(one) === foldCategoryName(other)).toBe(same);
  });
});
