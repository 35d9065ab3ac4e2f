/** Exports the tasks and categories of an account to an archive, and imports them. */

import { z } from 'zod';
import { lastNumber } from '../archive/last-number.ts';
import { type ImportTarget, type Instant, id, importSection, instantUpTo, whole } from '../archive/records.ts';
import type { SectionWriter } from '../archive/writer.ts';
import { invalidField, refuseFields } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import { countBytes, recordBytes } from '../quotas/usage.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Snapshot } from '../store/table.ts';
import { withoutCleared } from './clearing.ts';
import { type CategoryRecord, declaredCategory, declaredTask, KANBAN_STATUSES, type TaskRecord } from './declared.ts';
import { moveInIndexes } from './indexes.ts';
import { categories, taskBin, taskHeads, taskPlaces, tasks } from './records.ts';
import { disagreement, foldCategoryName } from './rules.ts';

/** Order of the records: last used numbers, categories, tasks, each by number, then the manually ordered columns. */
export const taskRecord = (instant: Instant) =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('counters'), task_id: whole, category_id: whole, created_at: instant }),
    declaredCategory.archivedAs('category', instant),
    declaredTask.archivedAs('task', instant),
    z.strictObject({
      type: z.literal('column'),
      kanban_status: z.enum(KANBAN_STATUSES),
      ids: z.array(id).max(limits.boardPlacedMax),
    }),
  ]);

type Row = z.infer<ReturnType<typeof taskRecord>>;
type Counters = Extract<Row, { type: 'counters' }>;

/** Writes all tasks and categories. A deleted category is not written on any task. */
export function exportTasks(snapshot: Snapshot, accountId: string, { write }: SectionWriter<Row>): void {
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
    write({ type: 'column', kanban_status: key[1], ids: [...value.ids] });
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
  await importSection(target, 'tasks', taskRecord(instantUpTo(latestMs)), (row, wait) => {
    if (row.type === 'counters') {
      if (head !== undefined) throw invalidField('type', 'the counters must be the first line, once');
      head = row;
      const { type: _, ...counters } = row;
      return wait(actor.ask((batch) => batch.put(taskHeads, [accountId], counters)));
    }
    if (head === undefined) throw invalidField('type', 'the counters must be the first line');
    if (row.type === 'category') {
      const { type: _, ...category } = row;
      checkNumber(category.id, lastCategory, head.category_id);
      checkCategory(category, names);
      lastCategory = category.id;
      known.add(category.id);
      return wait(actor.ask((batch) => batch.put(categories, [accountId, category.id], category)));
    }
    if (row.type === 'column') {
      const { kanban_status: status, ids } = row;
      return wait(actor.ask((batch) => batch.put(taskPlaces, [accountId, status], { ids })));
    }
    const { type: _, ...task } = row;
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
  } else moveInIndexes(batch, accountId, undefined, task);
}

/** Throws Refusal unless numbers ascend and are at most the last used number. */
function checkNumber(given: number, last: number, head: number): void {
  if (given <= last) throw invalidField('id', `id ${given} must be above ${last}, the id before it`);
  if (given > head) throw invalidField('id', `id ${given} is above the counter of the archive`);
}

function checkCategory({ name }: CategoryRecord, names: Set<string>): void {
  const folded = foldCategoryName(name);
  if (names.has(folded)) throw invalidField('name', 'another category has this name');
  if (names.size >= limits.categoriesMax)
    throw invalidField('id', `there are more than ${limits.categoriesMax} categories`);
  names.add(folded);
}

function checkTask(task: TaskRecord, known: ReadonlySet<number>): void {
  refuseFields(disagreement(task));
  if (task.completed !== (task.completed_at !== null))
    throw invalidField('completed_at', 'completed contradicts completed_at');
  if (task.category_id !== null && !known.has(task.category_id))
    throw invalidField('category_id', 'category_id is not a category of the archive');
}
