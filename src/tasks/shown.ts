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
  const notes = [...taskNotes(task, categoryName), `version ${version}`, ...timesOf(task)];
  const [first = '', ...others] = content.split('\n');
  return [`#${id} ${first} (${notes.join(', ')})`, ...others.map((line) => `  ${line}`)].join('\n');
}

/** What is known of a task beside its content, its version and its times. */
export function taskNotes(
  task: Pick<ShownFields, 'due_date' | 'is_important' | 'kanban_status' | 'category_id'>,
  categoryName: CategoryName,
): string[] {
  const { due_date: due, is_important, kanban_status: status, category_id } = task;
  return [
    ...(due === null ? [] : [`due ${due}`]),
    ...(is_important ? ['important'] : []),
    ...(status === 'todo' ? [] : [status]),
    ...(category_id === null ? [] : [`category ${categoryName(category_id) ?? category_id}`]),
    ...notesOf(OTHERS, task),
  ];
}

/** The times of a task, without a change in the minute of its creation. */
function timesOf({ created_at: created, updated_at: updated, completed_at: completed }: ShownFields): string[] {
  const [createdAt, changedAt] = [minuteOf(created), minuteOf(updated)];
  return [
    `created ${createdAt}`,
    ...(completed === null ? [] : [`completed ${minuteOf(completed)}`]),
    ...(changedAt === createdAt ? [] : [`changed ${changedAt}`]),
  ];
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
