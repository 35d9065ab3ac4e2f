/** Records the changes of documents in the decisions that make them. */
import { actOf, changedFields, noteChange } from '../activity/note.ts';
import type { Batch } from '../store/group-commit.ts';
import type { DocumentKind, DocumentRecord, HeldDocument } from './kind.ts';

/** Notes a document that was created (`before` undefined), changed, deleted or restored. Its text is named by its version. */
export function noteDocument<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  batch: Batch,
  accountId: string,
  held: HeldDocument<R> | undefined,
  after: R,
  atMs: number,
): void {
  const changed = changedFields([...kind.fields, 'version'], held?.record, after);
  noteChange(batch, accountId, {
    kind: kind.space,
    item: after.id,
    act: actOf(held?.record, after),
    name: kind.nameOf(after),
    by: after.changed_by,
    atMs,
    ...changed,
  });
}
