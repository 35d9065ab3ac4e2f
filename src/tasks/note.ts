/** Records the changes of tasks in the decisions that make them. */
import { actOf, changedFields, noteChange } from '../activity/note.ts';
import type { Batch } from '../store/group-commit.ts';
import { declaredTask, type TaskRecord } from './declared.ts';

/** The fields that callers set; `completed` follows from the status. */
const FIELDS = Object.keys(declaredTask.inputs).filter((name) => name !== 'completed');

/** Notes a task that was created (`before` undefined), changed, deleted or restored. */
export function noteTask(
  batch: Batch,
  accountId: string,
  before: TaskRecord | undefined,
  after: TaskRecord,
  atMs: number,
): void {
  noteChange(batch, accountId, {
    kind: 'tasks',
    item: after.id,
    act: actOf(before, after),
    name: after.content,
    by: after.changed_by,
    atMs,
    ...changedFields(FIELDS, before, after),
  });
}
