/** Reads live tasks as records, by ids from an index. */
import type { Reader } from '../../store/table.ts';
import { type TaskRecord, tasks } from '../records.ts';

/** Returns the live task of an index row; undefined when none exists. */
export function liveTask(reader: Pick<Reader, 'get'>, accountId: string, id: number): TaskRecord | undefined {
  const task = reader.get(tasks, [accountId, id]);
  return task?.deleted_at === null ? task : undefined;
}

/** Returns live tasks as records; missing ones are skipped. */
export function readTasks(store: Pick<Reader, 'get'>, accountId: string, ids: readonly number[]): TaskRecord[] {
  return ids.flatMap((id) => liveTask(store, accountId, id) ?? []);
}
