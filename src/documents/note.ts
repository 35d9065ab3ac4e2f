/** Records the changes of documents in the decisions that make them. */
import { actOf, changedFields, noteChange } from '../activity/note.ts';
import { limits } from '../limits/service.ts';
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
    before: { ...changed.before, ...replacedText(kind, held, after) },
    after: changed.after,
  });
}

/** The text that is gone after this change, because only the current version is kept. */
function replacedText<R extends DocumentRecord, H>(
  { keeps }: DocumentKind<R, H>,
  held: HeldDocument<R> | undefined,
  { version }: R,
): { readonly content?: string } {
  if (keeps !== 1 || held === undefined || held.record.version === version) return {};
  const content = held.text();
  return content.length > limits.activityTextCharsMax ? {} : { content };
}
