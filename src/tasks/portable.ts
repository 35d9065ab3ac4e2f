/** Exports the tasks and categories of an account to an archive, and imports them. */

import { z } from 'zod';
import { lastNumber } from '../archive/last-number.ts';
import {
  changedByName,
  type ImportTarget,
  type Instant,
  id,
  importSection,
  instantUpTo,
  text,
  whole,
} from '../archive/records.ts';
import type { SectionWriter } from '../archive/writer.ts';
import { invalidField, refuseFields } from '../common/fault.ts';
import { readFields } from '../fields/read.ts';
import { limits } from '../limits/service.ts';
import { countBytes, recordBytes } from '../quotas/usage.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Snapshot } from '../store/table.ts';
import { withoutCleared } from './clearing.ts';
import { newCategory, newTask } from './fields.ts';
import { IndexChange } from './indexes.ts';
import {
  type CategoryRecord,
  categories,
  KANBAN_STATUSES,
  type TaskRecord,
  taskBin,
  taskHeads,
  taskPlaces,
  tasks,
} from './records.ts';
import { disagreement, foldName } from './rules.ts';

/** Order of the records: last used numbers, categories, tasks, each by number, then the manually ordered columns. */
export const taskRecord = (instant: Instant) =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('counters'), task_id: whole, category_id: whole, created_at: instant }),
    z.strictObject({
      type: z.literal('category'),
      id,
      name: text(limits.categoryNameCharsMax),
      color: z.string().max(7).nullable(),
      position: whole,
      created_at: instant,
      updated_at: instant,
    }),
    z.strictObject({
      type: z.literal('task'),
      id,
      content: text(limits.taskContentCharsMax),
      due_date: z.string().max(10).nullable(),
      is_important: z.boolean(),
      completed: z.boolean(),
      completed_at: instant.nullable(),
      category_id: id.nullable(),
      kanban_status: z.enum(KANBAN_STATUSES),
      /** Absent in archives of earlier versions. */
      version: id.default(1),
      created_at: instant,
      updated_at: instant,
      changed_by: changedByName,
      deleted_at: instant.nullable(),
    }),
    z.strictObject({
      type: z.literal('column'),
      kanban_status: z.enum(KANBAN_STATUSES),
      ids: z.array(id).max(limits.boardPlacedMax),
    }),
  ]);

type Row = z.infer<ReturnType<typeof taskRecord>>;
type Counters = Extract<Row, { type: 'counters' }>;

/** Writes all tasks and categories. A deleted category is not written on any task. */
export function exportTasks(snapshot: Snapshot, accountId: string, { write }: SectionWriter): void {
  const head = snapshot.get(taskHeads, [accountId]);
  const [lastTask, lastCategory] = [
    lastNumber(snapshot, tasks, accountId),
    lastNumber(snapshot, categories, accountId),
  ];
  if (head === undefined && lastTask + lastCategory === 0) return;
  // The counters are missing or too low when their row is damaged.
  write({
    type: 'counters',
    task_id: Math.max(head?.task_id ?? 0, lastTask),
    category_id: Math.max(head?.category_id ?? 0, lastCategory),
    created_at: head?.created_at ?? new Date(0).toISOString(),
  });
  const known = new Set<number>();
  for (const { value } of snapshot.entries(categories, { prefix: [accountId] })) {
    if (write({ type: 'category', ...value })) known.add(value.id);
  }
  for (const { value } of snapshot.entries(tasks, { prefix: [accountId] })) {
    const gone = value.category_id === null || known.has(value.category_id) ? [] : [value.category_id];
    write({ type: 'task', ...withoutCleared(value, new Set(gone)) });
  }
  for (const { key, value } of snapshot.entries(taskPlaces, { prefix: [accountId] })) {
    write({ type: 'column', kanban_status: key[1], ids: value.ids });
  }
}

/** Imports into an account without tasks. Resolves with the ids of its categories. */
export async function importTasks(target: ImportTarget): Promise<ReadonlySet<number>> {
  const { actors, accountId, latestMs } = target;
  const actor = actors.account(accountId);
  const names = new Set<string>();
  const known = new Set<number>();
  let head: Counters | undefined;
  let [lastCategory, lastTask] = [0, 0];
  await importSection(target, 'tasks', taskRecord(instantUpTo(latestMs)), ({ type, ...record }, wait) => {
    if (type === 'counters') {
      if (head !== undefined) throw invalidField('type', 'the counters must be the first line, once');
      const counters = record as Omit<Counters, 'type'>;
      head = { type, ...counters };
      return wait(actor.ask((batch) => batch.put(taskHeads, [accountId], counters)));
    }
    if (head === undefined) throw invalidField('type', 'the counters must be the first line');
    if (type === 'category') {
      const category = record as CategoryRecord;
      checkNumber(category.id, lastCategory, head.category_id);
      checkCategory(category, names);
      lastCategory = category.id;
      known.add(category.id);
      return wait(actor.ask((batch) => batch.put(categories, [accountId, category.id], category)));
    }
    if (type === 'column') {
      const { kanban_status: status, ids } = record as Extract<Row, { type: 'column' }>;
      return wait(actor.ask((batch) => batch.put(taskPlaces, [accountId, status], { ids })));
    }
    const task = record as TaskRecord;
    checkNumber(task.id, lastTask, head.task_id);
    checkTask(task, known);
    lastTask = task.id;
    return wait(actor.ask((batch): void => put(batch, accountId, task)));
  });
  return known;
}

function put(batch: Batch, accountId: string, task: TaskRecord): void {
  countBytes(batch, accountId, 'documents', recordBytes(task.content));
  batch.put(tasks, [accountId, task.id], task);
  if (task.deleted_at !== null) {
    batch.put(taskBin, [Date.parse(task.deleted_at), accountId, task.id], {});
    return;
  }
  const change = new IndexChange(batch, accountId);
  change.move(undefined, task);
  change.finish();
}

/** Throws Refusal unless numbers ascend and are at most the last used number. */
function checkNumber(given: number, last: number, head: number): void {
  if (given <= last) throw invalidField('id', `id ${given} must be above ${last}, the id before it`);
  if (given > head) throw invalidField('id', `id ${given} is above the counter of the archive`);
}

function checkCategory({ name, color, position }: CategoryRecord, names: Set<string>): void {
  const fields = readFields(newCategory, { name, color, position });
  const folded = foldName(name);
  if (fields.name !== name || fields.color !== color)
    throw invalidField('name', 'name or color is not in its stored form');
  if (names.has(folded)) throw invalidField('name', 'another category has this name');
  if (names.size >= limits.categoriesMax)
    throw invalidField('id', `there are more than ${limits.categoriesMax} categories`);
  names.add(folded);
}

function checkTask(task: TaskRecord, known: ReadonlySet<number>): void {
  const { content, due_date, is_important, completed, kanban_status, category_id: categoryId } = task;
  refuseFields(disagreement(readFields(newTask, { content, due_date, is_important, completed, kanban_status })));
  if (completed !== (task.completed_at !== null))
    throw invalidField('completed_at', 'completed contradicts completed_at');
  if (categoryId !== null && !known.has(categoryId))
    throw invalidField('category_id', 'category_id is not a category of the archive');
}
