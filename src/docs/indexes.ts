/** Owns where a dev doc stands: by title, in the order of changes, and in the counts of its category. */
import type { Batch } from '../store/group-commit.ts';
import { type DevDocRecord, devDocChanges, devDocCounts, devDocTitles } from './records.ts';
import { foldTitle } from './rules.ts';

/** All documents of an account, or those of one category. */
export function changeScope(category: string | undefined): string {
  return category === undefined ? '*' : `c:${category}`;
}

export function changeScopesOf({ category }: DevDocRecord): string[] {
  return [changeScope(undefined), changeScope(category)];
}

/** Moves a document's rows: it changes, appears (`before` undefined) or is gone for good (`after` undefined). */
export function moveDoc(
  batch: Batch,
  accountId: string,
  before: DevDocRecord | undefined,
  after: DevDocRecord | undefined,
): void {
  moveChange(batch, accountId, before, after);
  const wasLive = before?.deleted_at === null;
  const isLive = after?.deleted_at === null;
  if (wasLive === isLive) return;
  const doc = (after ?? before) as DevDocRecord;
  const titleKey: [string, string, string] = [accountId, foldTitle(doc.title), doc.category];
  if (isLive) batch.put(devDocTitles, titleKey, doc.id);
  else batch.remove(devDocTitles, titleKey);
  const docs = (batch.get(devDocCounts, [accountId, doc.category])?.docs ?? 0) + (isLive ? 1 : -1);
  if (docs > 0) batch.put(devDocCounts, [accountId, doc.category], { docs });
  else batch.remove(devDocCounts, [accountId, doc.category]);
}

function moveChange(
  batch: Batch,
  accountId: string,
  before: DevDocRecord | undefined,
  after: DevDocRecord | undefined,
): void {
  if (before?.changed_ms === after?.changed_ms) return;
  if (before !== undefined) {
    for (const scope of changeScopesOf(before)) batch.remove(devDocChanges, [accountId, scope, before.changed_ms]);
  }
  if (after !== undefined) {
    for (const scope of changeScopesOf(after)) batch.put(devDocChanges, [accountId, scope, after.changed_ms], after.id);
  }
}
