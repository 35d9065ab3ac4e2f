/** The plainest tasks that could be right: arrays, filtered and sorted whole on each question. */

import type { KanbanStatus, TaskRecord } from '../../src/tasks/declared.ts';
import type { TaskFields } from '../../src/tasks/fields.ts';
import type { SortBy, TaskOrder } from '../../src/tasks/list/query.ts';

export interface ModelFilter {
  readonly categoryId?: number;
  readonly completed?: boolean;
  readonly isImportant?: boolean;
  readonly kanbanStatus?: KanbanStatus;
  readonly dueFrom?: string;
  readonly dueTo?: string;
}

/** How long the trash keeps a task or a category. */
const BIN_MS = 30 * 24 * 3600 * 1000;

/** Never before an earlier time, unless a clock that was wrong wrote that. */
const after = (nowMs: number, earlierMs: number): number =>
  earlierMs > nowMs + 60_000 ? nowMs : Math.max(nowMs, earlierMs);

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface ModelCategory {
  readonly id: number;
  readonly name: string;
  position: number;
}

export class Model {
  readonly tasks: Writable<TaskRecord>[] = [];
  readonly categories: ModelCategory[] = [];
  /** Deleted categories that can be restored. */
  readonly binned: { readonly category: ModelCategory; readonly deletedMs: number }[] = [];
  /** The deleted category of each live task that comes back with it. */
  readonly #hidden = new Map<number, number>();
  lastCategory = 0;
  lastTask = 0;
  lastCreatedMs = 0;

  create(fields: TaskFields, nowMs: number): TaskRecord {
    this.lastCreatedMs = after(nowMs, this.lastCreatedMs);
    this.lastTask += 1;
    const at = new Date(this.lastCreatedMs).toISOString();
    const done = fields.completed === true || fields.kanban_status === 'done';
    const task: Writable<TaskRecord> = {
      id: this.lastTask,
      content: fields.content ?? '',
      due_date: fields.due_date ?? null,
      is_important: fields.is_important === true,
      completed: done,
      completed_at: done ? at : null,
      category_id: fields.category_id ?? null,
      kanban_status: done ? 'done' : (fields.kanban_status ?? 'todo'),
      version: 1,
      created_at: at,
      updated_at: at,
      deleted_at: null,
    };
    this.tasks.push(task);
    return task;
  }

  patch(id: number, fields: TaskFields, nowMs: number): void {
    const task = this.find(id);
    if (task === undefined) return;
    const before = JSON.stringify(task);
    const at = new Date(after(nowMs, Date.parse(task.updated_at))).toISOString();
    const { completed, ...plain } = fields;
    Object.assign(task, plain);
    if (task.category_id !== null) this.#hidden.delete(id);
    if (completed === true) task.kanban_status = 'done';
    if (completed === false && task.kanban_status === 'done') task.kanban_status = 'todo';
    task.completed = task.kanban_status === 'done';
    if (task.completed) task.completed_at ??= at;
    else task.completed_at = null;
    if (JSON.stringify(task) === before) return;
    task.updated_at = at;
    task.version += 1;
  }

  remove(id: number, nowMs: number): void {
    const task = this.find(id);
    if (task === undefined) return;
    task.deleted_at = new Date(nowMs).toISOString();
    task.category_id = this.#hidden.get(id) ?? task.category_id;
    this.#hidden.delete(id);
  }

  restore(id: number, nowMs: number): void {
    const task = this.tasks.find((other) => other.id === id);
    if (task === undefined || task.deleted_at === null) return;
    task.deleted_at = null;
    const had = task.category_id;
    if (had !== null && this.binned.some(({ category }) => category.id === had)) this.#hidden.set(id, had);
    if (!this.categories.some((category) => category.id === had)) task.category_id = null;
    task.updated_at = new Date(after(nowMs, Date.parse(task.updated_at))).toISOString();
  }

  emptyBin(nowMs: number): number {
    const gone = this.tasks.filter(({ deleted_at: at }) => at !== null && Date.parse(at) <= nowMs - BIN_MS);
    for (const task of gone) this.tasks.splice(this.tasks.indexOf(task), 1);
    return gone.length;
  }

  removeCategory(id: number, nowMs: number): void {
    const [category] = this.categories.splice(
      this.categories.findIndex((one) => one.id === id),
      1,
    );
    if (category === undefined) return;
    this.binned.push({ category, deletedMs: nowMs });
    for (const task of this.live()) {
      if (task.category_id !== id) continue;
      task.category_id = null;
      this.#hidden.set(task.id, id);
    }
  }

  restoreCategory(id: number, position?: number): void {
    const [restored] = this.binned.splice(
      this.binned.findIndex(({ category }) => category.id === id),
      1,
    );
    if (restored === undefined) return;
    const { category } = restored;
    this.categories.push({ ...category, position: position ?? category.position });
    for (const task of this.live()) {
      if (this.#hidden.get(task.id) !== id) continue;
      task.category_id = id;
      this.#hidden.delete(task.id);
    }
  }

  clearCategories(nowMs: number): number {
    const gone = this.binned.filter(({ deletedMs }) => deletedMs <= nowMs - BIN_MS);
    for (const one of gone) {
      this.binned.splice(this.binned.indexOf(one), 1);
      for (const [task, id] of this.#hidden) if (id === one.category.id) this.#hidden.delete(task);
    }
    return gone.length;
  }

  find(id: number) {
    return this.live().find((task) => task.id === id);
  }

  live() {
    return this.tasks.filter((task) => task.deleted_at === null);
  }

  list(filter: ModelFilter, order: TaskOrder): TaskRecord[] {
    return sorted(
      this.live().filter((task) => isMatch(task, filter)),
      order,
    );
  }
}

function isMatch(task: TaskRecord, filter: ModelFilter): boolean {
  const { due_date: due } = task;
  return (
    (filter.categoryId === undefined || task.category_id === filter.categoryId) &&
    (filter.completed === undefined || task.completed === filter.completed) &&
    (filter.isImportant === undefined || task.is_important === filter.isImportant) &&
    (filter.kanbanStatus === undefined || task.kanban_status === filter.kanbanStatus) &&
    (filter.dueFrom === undefined || (due !== null && due >= filter.dueFrom)) &&
    (filter.dueTo === undefined || (due !== null && due <= filter.dueTo))
  );
}

/**
 * By the bytes of their texts, then by id; those without a text last. Tasks of equal importance, and open ones in the
 * order of completion, follow their creation time.
 */
export function sorted(tasks: readonly TaskRecord[], { sortBy, descending }: TaskOrder): TaskRecord[] {
  const sign = descending ? -1 : 1;
  const texts = tasks.map((task) => ({ task, text: sortText(task, sortBy) }));
  const keyed = texts.map(({ task, text }) => {
    const isByCreation = sortBy === 'is_important' || (sortBy === 'completed_at' && text === null);
    return { task, isLast: text === null, bytes: Buffer.from(text ?? ''), tie: isByCreation ? task.created_at : '' };
  });
  keyed.sort(
    (a, b) =>
      Number(a.isLast) - Number(b.isLast) ||
      sign * (Buffer.compare(a.bytes, b.bytes) || a.tie.localeCompare(b.tie) || a.task.id - b.task.id),
  );
  return keyed.map(({ task }) => task);
}

function sortText(task: TaskRecord, sortBy: SortBy): string | null {
  if (sortBy === 'content') return task.content.trim().slice(0, 100).toLowerCase().replaceAll('\n', ' ');
  const value = task[sortBy];
  return value === null ? null : String(value);
}
