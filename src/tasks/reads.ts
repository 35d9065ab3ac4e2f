/** Reads live tasks by the ids that an order gave, as records or as the JSON that both doors show. */
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { type TaskRecord, tasks, taskTexts } from './records.ts';

/** A live task that an index row promised; undefined when the row stood for none. */
export function liveTask(reader: Pick<Reader, 'get'>, accountId: string, id: number): TaskRecord | undefined {
  const task = reader.get(tasks, [accountId, id]);
  return task?.deleted_at === null ? task : undefined;
}

export function readTasks(store: Store, accountId: string, ids: readonly number[]): TaskRecord[] {
  return ids.flatMap((id) => liveTask(store, accountId, id) ?? []);
}

/** The stored text of a live task is what is shown of it. Ids of binned tasks must not be asked for: no order holds one. */
export function readTaskTexts(store: Store, accountId: string, ids: readonly number[]): string[] {
  return ids.flatMap((id) => store.get(taskTexts, [accountId, id]) ?? []);
}
