/** Formats a task for output: as JSON, and as one line of text. */
import { oneLine } from '../gateway/words.ts';
import { limits } from '../limits/service.ts';
import type { TaskRecord } from './records.ts';

type ShownFields = Omit<TaskRecord, 'deleted_at'>;

export class ShownTask {
  readonly json: string;
  #line: string | undefined;

  constructor(json: string) {
    this.json = json;
  }

  /** The task as one line; computed once. */
  get line(): string {
    this.#line ??= lineOf(JSON.parse(this.json) as ShownFields);
    return this.#line;
  }
}

/** Formats one task as one line. */
export function lineOf(task: ShownFields): string {
  const { id, content, due_date: due, is_important, kanban_status: status, category_id } = task;
  const notes = [
    ...(due === null ? [] : [`due ${due}`]),
    ...(is_important ? ['important'] : []),
    ...(status === 'todo' ? [] : [status]),
    ...(category_id === null ? [] : [`category ${category_id}`]),
  ];
  return `#${id} ${oneLine(content, limits.toolTextBytesMax)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}
