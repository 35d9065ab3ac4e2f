/** Finds the deleted tasks of an account. They stand in no order of their own, so all of its tasks are walked, in turns. */
import { limits } from '../../limits/service.ts';
import { readInTurns } from '../../store/in-turns.ts';
import type { Store } from '../../store/store.ts';
import { type TaskRecord, tasks, taskTexts } from '../records.ts';

/** Stands in the text of a deleted task only: within a string, JSON escapes the quotes. */
const DELETED = '"deleted_at":"';

/** The tasks that were deleted last, newest first. */
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
