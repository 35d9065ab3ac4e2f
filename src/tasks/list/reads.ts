/** Reads live tasks as records, by the ids that an order gave. */
import type { Reader } from '../../store/table.ts';
import { type TaskRecord, tasks } from '../records.ts';

/** A live task that an index row promised; undefined when the row stood for none. */
export function liveTask(reader: Pick<Reader, 'get'>, accountId: string, id: number): TaskRecord | undefined {
  const task = reader.get(tasks, [accountId, id]);
  return task?.deleted_at === null ? task : undefined;
}

/** Live tasks as records. */
export function readTasks(store: Pick<Reader, 'get'>, accountId: string, ids: readonly number[]): TaskRecord[] {
  return ids.flatMap((id) => liveTask(store, accountId, id) ?? []);
}
