/** Finds the deleted tasks of an account. They have no index, so all tasks of the account are scanned, in turns. */
import { limits } from '../../limits/service.ts';
import { readInTurns } from '../../store/in-turns.ts';
import type { Store } from '../../store/store.ts';
import type { TaskRecord } from '../declared.ts';
import { tasks, taskTexts } from '../records.ts';

/** Occurs only in the JSON of a deleted task: within a JSON string the quotes are escaped. */
const DELETED = '"deleted_at":"';

/** Returns the most recently deleted tasks, newest first. */
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
