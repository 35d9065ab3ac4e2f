/** Gives tasks that a clock in the future dated the current time. Ids, orders by hand and everything else stay. */
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import { isFromTheFuture } from '../time/truth.ts';
import type { TaskRecord } from './declared.ts';
import { IndexChange } from './indexes.ts';
import { taskBin, taskHeads, tasks } from './records.ts';

/** Returns the task with no time after now; the same record when it has none. Pure. */
function mendedTask(task: TaskRecord, nowMs: number): TaskRecord {
  const clamped = <T extends string | null>(at: T): T | string =>
    at !== null && isFromTheFuture(Date.parse(at), nowMs) ? new Date(nowMs).toISOString() : at;
  const times = {
    created_at: clamped(task.created_at),
    updated_at: clamped(task.updated_at),
    completed_at: clamped(task.completed_at),
    deleted_at: clamped(task.deleted_at),
  };
  const isSame = Object.entries(times).every(([name, at]) => at === task[name as keyof typeof times]);
  return isSame ? task : { ...task, ...times };
}

/** Resolves with the number of tasks dated in the future; with `apply`, they are mended in small decisions. */
export async function mendTaskTimes(
  { store, actors }: { readonly store: Store; readonly actors: ActorRegistry },
  nowMs: number,
  apply: boolean,
): Promise<number> {
  let found = 0;
  for (let after: [string, number] | undefined; ; ) {
    const beyond = after === undefined ? {} : { beyond: after };
    const rows = store.range(tasks, { prefix: [], ...beyond, limit: limits.mendRowsMax });
    const due = rows.filter(({ value }) => mendedTask(value, nowMs) !== value).map(({ key }) => key);
    found += due.length;
    for (const accountId of apply ? new Set(due.map(([id]) => id)) : []) {
      const ids = due.filter(([id]) => id === accountId).map(([, taskId]) => taskId);
      await actors.account(accountId).ask((batch) => mendSome(batch, accountId, ids, nowMs));
    }
    after = rows.at(-1)?.key;
    if (after === undefined) return found;
    await new Promise(setImmediate);
  }
}

function mendSome(batch: Batch, accountId: string, ids: readonly number[], nowMs: number): void {
  const change = new IndexChange(batch, accountId);
  for (const id of ids) {
    const task = batch.get(tasks, [accountId, id]);
    // Deleted since it was found.
    if (task === undefined) continue;
    const mended = mendedTask(task, nowMs);
    if (mended === task) continue;
    batch.put(tasks, [accountId, id], mended);
    if (task.deleted_at === null) change.move(task, mended);
    else {
      batch.remove(taskBin, [Date.parse(task.deleted_at), accountId, id]);
      batch.put(taskBin, [Date.parse(mended.deleted_at ?? ''), accountId, id], {});
    }
  }
  change.finish();
  const head = batch.get(taskHeads, [accountId]);
  if (head !== undefined && isFromTheFuture(Date.parse(head.created_at), nowMs)) {
    batch.put(taskHeads, [accountId], { ...head, created_at: new Date(nowMs).toISOString() });
  }
}
