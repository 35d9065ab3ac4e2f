/** Reads tasks as records: live ones by ids from an index, and deleted ones. */
import { limits } from '../../limits/service.ts';
import { readInTurns } from '../../store/in-turns.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import type { TaskRecord } from '../declared.ts';
import { tasks, taskTexts } from '../records.ts';

/** Returns the live task of an index row; undefined when none exists. */
export function liveTask(reader: Pick<Reader, 'get'>, accountId: string, id: number): TaskRecord | undefined {
  const task = reader.get(tasks, [accountId, id]);
  return task?.deleted_at === null ? task : undefined;
}

/** Returns live tasks as records; missing ones are skipped. */
export function readTasks(store: Pick<Reader, 'get'>, accountId: string, ids: readonly number[]): TaskRecord[] {
  return ids.flatMap((id) => liveTask(store, accountId, id) ?? []);
}

/** Occurs only in the JSON of a deleted task: within a JSON string the quotes are escaped. */
const DELETED = '"deleted_at":"';
/** Each occurs once in the JSON of a task, before its content and before its time of creation. */
const CONTENT = '"content":';
const CREATED = '"created_at":"';

/**
 * Returns the id of a task with the same content that is among the newest before a new one, and was created shortly
 * before it: after a lost answer, agents repeat a call. Rows are compared as text, so none is parsed: within a JSON string
 * quotes are escaped, so no text of a task looks like a member. `textOf`: the row of a task as text.
 */
export function twinOf(textOf: (id: number) => string | undefined, task: TaskRecord): number | undefined {
  const content = JSON.stringify(task.content);
  const first = Math.max(1, task.id - limits.taskTwinsMax);
  for (let id = task.id - 1; id >= first; id -= 1) {
    const text = textOf(id);
    if (text === undefined || !text.startsWith(content, text.indexOf(CONTENT) + CONTENT.length)) continue;
    if (text.includes(DELETED)) continue;
    const at = text.indexOf(CREATED) + CREATED.length;
    if (text.startsWith(task.created_at, at)) return id;
    const apartMs = Math.abs(Date.parse(task.created_at) - Date.parse(text.slice(at, text.indexOf('"', at))));
    return apartMs <= limits.taskTwinMs ? id : undefined;
  }
  return undefined;
}

/**
 * Returns the most recently deleted tasks, newest first; a promise when it takes more than one turn. They have no index,
 * so all tasks of the account are scanned.
 */
export function deletedTasks(store: Store, accountId: string): TaskRecord[] | Promise<TaskRecord[]> {
  return readInTurns(store, accountId, function* (reader) {
    const ids: number[] = [];
    for (const { key, value } of reader.entries(taskTexts, { prefix: [accountId] })) {
      yield;
      if (value.includes(DELETED)) ids.push(key[1]);
    }
    return ids
      .flatMap((id) => reader.get(tasks, [accountId, id]) ?? [])
      .sort((a, b) => (b.deleted_at ?? '').localeCompare(a.deleted_at ?? '') || b.id - a.id)
      .slice(0, limits.trashRowsShown);
  });
}
