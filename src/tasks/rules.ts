/** Decides which values tasks and categories accept, and the result of a write. Pure. */
import type { z } from 'zod';
import { type FieldErrors, invalidField, type Refusal } from '../common/fault.ts';
import { changedBy } from '../common/principal.ts';
import { recordInTrash, recordNotFound } from '../fields/not-found.ts';
import { limits } from '../limits/service.ts';
import { DAY_MS } from '../time/calendar.ts';
import { timeAfterIso } from '../time/truth.ts';
import { type CategoryRecord, declaredCategory, declaredTask, type KanbanStatus, type TaskRecord } from './declared.ts';
import type { CategoryFields, newCategory, newTask, TaskFields } from './fields.ts';
import type { BinnedCategory, TaskHead } from './records.ts';

const NEW_HEAD: TaskHead = { task_id: 0, category_id: 0, created_at: new Date(0).toISOString() };

/** Returns the errors of a status and a completion that contradict each other. */
export function disagreement({ completed, kanban_status: status }: TaskFields): FieldErrors {
  if (completed === undefined || status === undefined || completed === (status === 'done')) return {};
  return {
    kanban_status: [`kanban_status ${status} and completed ${completed} disagree; send one of the two`],
    completed: ['completed is true exactly when kanban_status is done'],
  };
}

/** `isDeleted`: the task is in the trash. */
export function taskNotFound(isDeleted = false): Refusal {
  const what = 'task not found';
  return isDeleted ? recordInTrash(what, 'update_task') : recordNotFound(what, 'list_tasks');
}

/** `isDeleted`: the category is in the trash. */
export function categoryNotFound(isDeleted = false): Refusal {
  const what = 'category not found';
  return isDeleted ? recordInTrash(what, 'update_category') : recordNotFound(what, 'list_categories');
}

/** Returns the first task of an account, or the next one. */
export function decideCreateTask(
  fields: z.output<typeof newTask>,
  head: TaskHead | undefined,
  nowMs: number,
  by?: string,
) {
  const last = head ?? NEW_HEAD;
  const createdAt = timeAfterIso(nowMs, last.created_at);
  const status = fields.kanban_status ?? (fields.completed === true ? 'done' : 'todo');
  const completed = status === 'done';
  const task = declaredTask.make(fields, {
    id: last.task_id + 1,
    kanban_status: status,
    completed,
    completed_at: completed ? createdAt : null,
    version: 1,
    created_at: createdAt,
    updated_at: createdAt,
    ...(by === undefined ? {} : { changed_by: by }),
    deleted_at: null,
  });
  return { task, head: { ...last, task_id: task.id, created_at: createdAt } satisfies TaskHead };
}

/** Returns a task after a partial update: the same record when nothing changes. */
export function decidePatchTask(task: TaskRecord, fields: TaskFields, nowMs: number, by?: string): TaskRecord {
  const status = nextStatus(task, fields);
  const completed = status === 'done';
  const at = timeAfterIso(nowMs, task.updated_at);
  const next = declaredTask.change(task, fields, {
    kanban_status: status,
    completed,
    completed_at: completed ? (task.completed_at ?? at) : null,
  });
  if (next === task) return task;
  return changedBy({ ...next, version: task.version + 1, updated_at: at }, by);
}

/** Completing sets the status to done; reopening a done task resets it to the default. */
function nextStatus(task: TaskRecord, { completed, kanban_status: status }: TaskFields): KanbanStatus {
  if (status !== undefined) return status;
  if (completed === undefined || completed === task.completed) return task.kanban_status;
  return completed ? 'done' : 'todo';
}

export function decideBinTask(task: TaskRecord, nowMs: number, by?: string): TaskRecord {
  return changedBy({ ...task, deleted_at: new Date(nowMs).toISOString() }, by);
}

/** Restores a task. Its category may have been deleted. */
export function decideRestore(task: TaskRecord, categoryExists: boolean, nowMs: number, by?: string): TaskRecord {
  const category_id = categoryExists ? task.category_id : null;
  const restored = { ...task, category_id, deleted_at: null, updated_at: timeAfterIso(nowMs, task.updated_at) };
  return changedBy(restored, by);
}

/** Tasks deleted before this moment are permanently deleted. */
export function binCutoffMs(nowMs: number): number {
  return nowMs - limits.binDays * DAY_MS;
}

/** Normalizes a category's name for comparison. */
export function foldCategoryName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Returns the next category of an account, by default the last. Throws Refusal for a name in use, or too many. */
export function decideCreateCategory(
  fields: z.output<typeof newCategory>,
  existing: readonly CategoryRecord[],
  head: TaskHead | undefined,
  nowMs: number,
) {
  const last = head ?? NEW_HEAD;
  checkFreeName(fields.name, existing);
  checkRoom(existing);
  const behind = existing.reduce((position, other) => Math.max(position, other.position + 1), 0);
  const at = new Date(nowMs).toISOString();
  const category = declaredCategory.make(fields, {
    id: last.category_id + 1,
    position: fields.position ?? Math.min(behind, limits.categoryPositionMax),
    created_at: at,
    updated_at: at,
  });
  return { category, head: { ...last, category_id: category.id } satisfies TaskHead };
}

/** Returns a category after a partial update: the same record when nothing changes. */
export function decidePatchCategory(
  category: CategoryRecord,
  fields: CategoryFields,
  existing: readonly CategoryRecord[],
  nowMs: number,
): CategoryRecord {
  const others = existing.filter((other) => other.id !== category.id);
  if (fields.name !== undefined) checkFreeName(fields.name, others);
  const next = declaredCategory.change(category, fields);
  if (next === category) return category;
  return { ...next, updated_at: timeAfterIso(nowMs, category.updated_at) };
}

/** Returns a category from the trash, with changed fields. Throws Refusal for a name in use, or too many. */
export function decideRestoreCategory(
  binned: BinnedCategory,
  fields: CategoryFields,
  existing: readonly CategoryRecord[],
  nowMs: number,
): CategoryRecord {
  const { deleted_at: _, ...category } = binned;
  const next = declaredCategory.change(category, fields);
  checkFreeName(
    next.name,
    existing,
    ({ id }) => `category #${id} has this name now; rename that one first, or restore this one with another name`,
  );
  checkRoom(existing);
  return { ...next, updated_at: timeAfterIso(nowMs, category.updated_at) };
}

function checkRoom(existing: readonly CategoryRecord[]): void {
  if (existing.length >= limits.categoriesMax) {
    throw invalidField('name', `this account already has ${limits.categoriesMax} categories; delete one first`);
  }
}

function checkFreeName(
  name: string,
  others: readonly CategoryRecord[],
  says: (holder: CategoryRecord) => string = () => 'this account already has a category with this name',
): void {
  const folded = foldCategoryName(name);
  const holder = others.find((other) => foldCategoryName(other.name) === folded);
  if (holder !== undefined) throw invalidField('name', says(holder));
}
