/** Reads live tasks by the ids that an order gave, as records or as the JSON that both doors show. */
import type { Reader } from '../../store/table.ts';
import { withoutCleared } from '../clearing.ts';
import { type TaskRecord, tasks, taskTexts } from '../records.ts';

/** A live task that an index row promised; undefined when the row stood for none. */
export function liveTask(reader: Pick<Reader, 'get'>, accountId: string, id: number): TaskRecord | undefined {
  const task = reader.get(tasks, [accountId, id]);
  return task?.deleted_at === null ? task : undefined;
}

/** Live tasks as records. */
export function readTasks(store: Pick<Reader, 'get'>, accountId: string, ids: readonly number[]): TaskRecord[] {
  return ids.flatMap((id) => liveTask(store, accountId, id) ?? []);
}

/**
 * Live tasks as the JSON that is shown of them, which is their stored text. Ids of binned tasks must not be asked for: no
 * order holds one. `cleared`: categories to leave out.
 */
export function readTaskTexts(
  store: Pick<Reader, 'get'>,
  accountId: string,
  ids: readonly number[],
  cleared: ReadonlySet<number>,
): string[] {
  const texts = ids.flatMap((id) => store.get(taskTexts, [accountId, id]) ?? []);
  if (cleared.size === 0) return texts;
  return texts.map((text) => JSON.stringify(withoutCleared(JSON.parse(text) as TaskRecord, cleared)));
}
