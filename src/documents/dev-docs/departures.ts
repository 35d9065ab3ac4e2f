/** Finds dev docs that left a category: whoever keeps a copy of it must remove them. */
import { ActivityLog } from '../../activity/log.ts';
import type { Store } from '../../store/store.ts';
import type { DevDocRecord } from './declared.ts';
import { holderOf } from './kind.ts';

export interface Departure {
  /** As it was when the document left. */
  readonly title: string;
  readonly at: string;
}

/**
 * Changes of documents are at least 1 ms apart, so a burst of them runs ahead of the clock, by which activity is noted. Who
 * asks within this time after a departure may hear of it twice, which is harmless.
 */
const AHEAD_MS = 60_000;

/**
 * Returns when a document, which has another category now, left this one, as far as a client at a position in the order of
 * changes may not have heard of it. When the activity no longer reaches back that far, each document that is older and may
 * have left counts as one that did.
 */
export function departureOf(
  store: Store,
  accountId: string,
  doc: DevDocRecord,
  category: string,
  positionMs: number,
): Departure | undefined {
  const log = new ActivityLog(store);
  let sinceMs: number | undefined;
  for (const { at_ms: atMs, act, before, name } of log.each(accountId, 'docs', doc.id)) {
    // A clock that was set back leaves the order of changes ahead of it.
    sinceMs ??= positionMs - AHEAD_MS - Math.max(0, doc.changed_ms - atMs);
    if (atMs < sinceMs) return undefined;
    const { title = name } = before;
    if (before['category'] === category) return { title: String(title), at: new Date(atMs).toISOString() };
    if (act === 'created') return undefined;
  }
  const isNew = Date.parse(doc.created_at) > positionMs;
  if (isNew || log.reachesBackTo(accountId, sinceMs ?? positionMs)) return undefined;
  // A document with this title is there, and is the one that such a copy has.
  if (holderOf(store, accountId, { title: doc.title, category }) !== undefined) return undefined;
  return { title: doc.title, at: doc.updated_at };
}
