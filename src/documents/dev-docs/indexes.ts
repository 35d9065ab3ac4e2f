/** Maintains the index rows of dev docs: by title, by list, by order of changes, and the count per category. */
import type { Batch } from '../../store/group-commit.ts';
import {
  type ContentType,
  type DevDocRecord,
  devDocChanges,
  devDocCounts,
  devDocRows,
  devDocTitles,
} from './records.ts';
import { foldTitle } from './rules.ts';

/** Returns the list scope of a category, a content type, both, or neither (all documents). */
export function listScope(category: string | undefined, contentType: ContentType | undefined): string {
  return `${contentType ?? '*'}:${changeScope(category)}`;
}

export function listScopesOf({ category, content_type: type }: DevDocRecord): string[] {
  return [
    listScope(undefined, undefined),
    listScope(category, undefined),
    listScope(undefined, type),
    listScope(category, type),
  ];
}

/** Returns the change scope of one category or of all documents. `=` keeps a category named `*` apart from all. */
export function changeScope(category: string | undefined): string {
  return category === undefined ? '*' : `=${category}`;
}

export function changeScopesOf({ category }: DevDocRecord): string[] {
  return [changeScope(undefined), changeScope(category)];
}

/**
 * Updates the rows of a document that was changed, created (`before` undefined) or permanently deleted (`after`
 * undefined).
 */
export function moveDoc(
  batch: Batch,
  accountId: string,
  before: DevDocRecord | undefined,
  after: DevDocRecord | undefined,
): void {
  moveChange(batch, accountId, before, after);
  const wasLive = before?.deleted_at === null;
  const isLive = after?.deleted_at === null;
  const doc = (after ?? before) as DevDocRecord;
  if (wasLive !== isLive) {
    moveLive(batch, accountId, doc, isLive);
    countLive(batch, accountId, doc.category, isLive ? 1 : -1);
  }
  const wasBinned = before !== undefined && !wasLive;
  const isBinned = after !== undefined && !isLive;
  if (wasBinned !== isBinned) moveBinned(batch, accountId, doc, isBinned);
}

function moveLive(batch: Batch, accountId: string, doc: DevDocRecord, isLive: boolean): void {
  const titleKey: [string, string, 'live', string] = [accountId, foldTitle(doc.title), 'live', doc.category];
  if (isLive) batch.put(devDocTitles, titleKey, doc.id);
  else batch.remove(devDocTitles, titleKey);
  for (const scope of listScopesOf(doc)) {
    if (isLive) batch.put(devDocRows, [accountId, scope, doc.id], {});
    else batch.remove(devDocRows, [accountId, scope, doc.id]);
  }
}

function countLive(batch: Batch, accountId: string, category: string, delta: number): void {
  const docs = (batch.get(devDocCounts, [accountId, category])?.docs ?? 0) + delta;
  if (docs > 0) batch.put(devDocCounts, [accountId, category], { docs });
  else batch.remove(devDocCounts, [accountId, category]);
}

/** If several documents with the same title are in the trash, the title finds the one deleted last. */
function moveBinned(batch: Batch, accountId: string, doc: DevDocRecord, isBinned: boolean): void {
  const key: [string, string, 'binned', string] = [accountId, foldTitle(doc.title), 'binned', doc.category];
  if (isBinned) batch.put(devDocTitles, key, doc.id);
  else if (batch.get(devDocTitles, key) === doc.id) batch.remove(devDocTitles, key);
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
