/** Declares tasks as things with an id: read by it, and searched. */
import { type Thing, type ThingKind, thingStamp } from '../ids/thing.ts';
import { numberOf } from '../ids/uri.ts';
import { categoryName } from './categories.ts';
import type { TaskRecord } from './declared.ts';
import { liveTask } from './list/reads.ts';
import { tasks } from './records.ts';
import { type CategoryName, taskNotes } from './shown.ts';

const TEMPLATE = 'cairn://tasks/{id}';
const TITLE_CHARS_MAX = 120;

export const taskThings: ThingKind = {
  kind: 'task',
  templates: [TEMPLATE],
  find: (_reader, _accountId, { id }) => numberOf(id)?.toString(),
  read(reader, accountId, key) {
    const task = liveTask(reader, accountId, Number(key));
    return task && thingOf(task, (id) => categoryName(reader, accountId, id));
  },
  *keys(reader, accountId, after) {
    for (const [, id] of reader.keysIn(tasks, { prefix: [accountId], beyond: Number(after ?? 0) })) yield String(id);
  },
  writtenBy: [{ table: tasks, keyOf: ([, id]) => String(id) }],
};

export function taskUri(id: number): string {
  return TEMPLATE.replace('{id}', String(id));
}

function taskStamp({ updated_at: at, version }: TaskRecord): number {
  return thingStamp(Date.parse(at), version);
}

function thingOf(task: TaskRecord, categoryNameOf: CategoryName): Thing {
  const { id, content, due_date, is_important, kanban_status: status, category_id, version } = task;
  // A deleted category stays in the record while it can be restored.
  const isThere = category_id !== null && categoryNameOf(category_id) !== undefined;
  const [first = ''] = content.trim().split('\n', 1);
  return {
    id: taskUri(id),
    kind: 'task',
    what: 'task',
    key: String(id),
    title: first.length > TITLE_CHARS_MAX ? `${first.slice(0, TITLE_CHARS_MAX)}…` : first,
    place: '',
    path: `/tasks/${id}`,
    mimeType: 'text/plain',
    changedMs: Date.parse(task.updated_at),
    changedBy: task.changed_by,
    sizeBytes: Buffer.byteLength(content),
    version,
    note: taskNotes(task, categoryNameOf).join(', '),
    stamp: taskStamp(task),
    facts: { status, due_date, is_important, category_id: isThere ? category_id : null, version },
    text: () => content,
  };
}
