/** Formats a task for output: as JSON, as text, and in the refusal of a change that was made from another version. */
import { staleVersion } from '../fields/expected-version.ts';
import { notesOf } from '../fields/record.ts';
import { declaredTask, type TaskRecord } from './declared.ts';

type ShownFields = Omit<TaskRecord, 'deleted_at'>;

export class ShownTask {
  readonly json: string;
  #text: string | undefined;

  constructor(json: string) {
    this.json = json;
  }

  /** The task as text. Computed once, unless it has the name of a category, which may change. */
  textWith(categoryName: CategoryName): string {
    if (this.#text !== undefined) return this.#text;
    const task = JSON.parse(this.json) as ShownFields;
    const text = taskText(task, categoryName);
    if (task.category_id === null) this.#text = text;
    return text;
  }
}

/** The name of a category by its number. Undefined: there is none. */
export type CategoryName = (id: number) => string | undefined;

/** Fields that have no words of their own in `taskText`. */
const OTHERS = declaredTask.inputsBeside([
  'content',
  'due_date',
  'is_important',
  'completed',
  'category_id',
  'kanban_status',
]);

/** Formats one task: its first line with all that is known of it, then the other lines of its content, indented. */
export function taskText(task: ShownFields, categoryName: CategoryName): string {
  const { id, content, version } = task;
  const notes = taskNotes(task, categoryName);
  notes.push(`version ${version}`);
  pushTimes(notes, task);
  const end = content.indexOf('\n');
  const first = `#${id} ${end === -1 ? content : content.slice(0, end)} (${notes.join(', ')})`;
  return end === -1 ? first : first + content.slice(end).replaceAll('\n', '\n  ');
}

/** What is known of a task beside its content, its version and its times. */
export function taskNotes(
  task: Pick<ShownFields, 'due_date' | 'is_important' | 'kanban_status' | 'category_id'>,
  categoryName: CategoryName,
): string[] {
  const { due_date: due, is_important, kanban_status: status, category_id } = task;
  const notes: string[] = [];
  if (due !== null) notes.push(`due ${due}`);
  if (is_important) notes.push('important');
  if (status !== 'todo') notes.push(status);
  if (category_id !== null) notes.push(`category ${categoryName(category_id) ?? category_id}`);
  if (OTHERS.length > 0) notes.push(...notesOf(OTHERS, task));
  return notes;
}

/** Adds the times of a task, without a change in the minute of its creation. */
function pushTimes(
  notes: string[],
  { created_at: created, updated_at: updated, completed_at: completed }: ShownFields,
): void {
  const createdAt = minuteOf(created);
  const changedAt = minuteOf(updated);
  notes.push(`created ${createdAt}`);
  if (completed !== null) notes.push(`completed ${minuteOf(completed)}`);
  if (changedAt !== createdAt) notes.push(`changed ${changedAt}`);
}

/** `2026-11-20T20:18:57.123Z` becomes `2026-11-20T20:18Z`, which costs a model less. */
function minuteOf(instant: string): string {
  return `${instant.slice(0, 16)}Z`;
}

/** Throws Refusal `stale_version` with the task, so that the caller can decide without another read. */
export function checkVersion(task: TaskRecord, expected: number | undefined, categoryName: CategoryName): void {
  if (expected === undefined || expected === task.version) return;
  const { deleted_at: _, ...shown } = task;
  throw staleVersion('task', expected, task.version, { text: taskText(task, categoryName), record: { task: shown } });
}
