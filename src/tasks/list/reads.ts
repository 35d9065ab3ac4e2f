/** Reads live tasks as records, by ids from an index. */
import { limits } from '../../limits/service.ts';
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

/**
 * Returns the id of a task with the same content that is among the newest before a new one, and was created shortly
 * before it: after a lost answer, agents repeat a call. Rows are compared as text, so mostly none is parsed.
 */
export function twinOf(store: Pick<Reader, 'get'>, accountId: string, task: TaskRecord): number | undefined {
  const content = JSON.stringify(task.content);
  const first = Math.max(1, task.id - limits.taskTwinsMax);
  for (let id = task.id - 1; id >= first; id -= 1) {
    if (store.get(taskTexts, [accountId, id])?.includes(content) !== true) continue;
    const other = liveTask(store, accountId, id);
    if (other?.content !== task.content) continue;
    return Date.parse(task.created_at) - Date.parse(other.created_at) <= limits.taskTwinMs ? id : undefined;
  }
  return undefined;
}
