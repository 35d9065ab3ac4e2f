/** Writes what was decided about documents: the record, its text, its index rows, and its place in the trash. */
import type { Batch } from '../store/group-commit.ts';
import type { DocumentKind, DocumentRecord, HeldDocument } from './kind.ts';
import { documentBin, type Space } from './records.ts';
import { type DocumentName, dropVersion, putVersion } from './texts.ts';

export type BinKey = [sinceMs: number, accountId: string, space: Space, documentId: number, version: number];

/** In the trash, the version of a whole document. */
export const WHOLE = 0;

/** Returns the key of a document in the trash, or of one version of it. */
export function binKey(since: string, { accountId, space, id }: DocumentName, version = WHOLE): BinKey {
  return [Date.parse(since), accountId, space, id, version];
}

/**
 * Writes a document that was created (`before` undefined) or changed. A new version also writes the text, and drops or
 * bins the version that is no longer kept.
 */
export function putDocument<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  batch: Batch,
  accountId: string,
  before: HeldDocument<R> | undefined,
  after: HeldDocument<R>,
  head?: H,
): R {
  const { record } = after;
  const name: DocumentName = { accountId, space: kind.space, id: record.id };
  if (head !== undefined) batch.put(kind.heads, [accountId], head);
  batch.put(kind.records, [accountId, record.id], record);
  moveRows(kind, batch, accountId, before, after);
  moveInBin(batch, name, before?.record.deleted_at ?? null, record.deleted_at ?? null);
  if (before?.record.version === record.version) return record;
  const { version, updated_at: at, changed_by: by } = record;
  putVersion(batch, name, version, after.text(), { at, by });
  if (kind.keeps !== 'days') {
    if (version > kind.keeps) dropVersion(batch, name, version - kind.keeps);
  } else if (before !== undefined) batch.put(documentBin, binKey(at, name, before.record.version), {});
  return record;
}

/** Removes every row of a document except its texts and its place in the trash. */
export function forgetDocument<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  batch: Batch,
  accountId: string,
  id: number,
): void {
  const record = batch.get(kind.records, [accountId, id]);
  if (record === undefined) return;
  batch.remove(kind.records, [accountId, id]);
  moveRows(kind, batch, accountId, { record, text: () => '' }, undefined);
}

/** Updates the index rows of a document that was created, changed or (`after` undefined) permanently deleted. */
export function moveRows<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  batch: Batch,
  accountId: string,
  before: HeldDocument<R> | undefined,
  after: HeldDocument<R> | undefined,
): void {
  const rowsOf = (held: HeldDocument<R> | undefined) => {
    const rows = held === undefined ? [] : kind.rowsOf(accountId, held.record);
    return new Map(rows.map((row) => [row.name, row]));
  };
  const [stale, fresh] = [rowsOf(before), rowsOf(after)];
  for (const [name, row] of fresh) if (!stale.delete(name)) row.put(batch);
  for (const row of stale.values()) row.remove(batch);
  kind.moveShared?.(batch, accountId, before, after);
}

function moveInBin(batch: Batch, name: DocumentName, before: string | null, after: string | null): void {
  if (before === after) return;
  if (before !== null) batch.remove(documentBin, binKey(before, name));
  if (after !== null) batch.put(documentBin, binKey(after, name), {});
}
