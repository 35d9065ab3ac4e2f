/** Gives documents and versions that a clock in the future dated the current time. Their order stays. */
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import { isFromTheFuture } from '../time/truth.ts';
import type { DocumentKind, DocumentRecord } from './kind.ts';
import { documentBin, type VersionKey, versionRows } from './records.ts';
import { keptText } from './texts.ts';
import { binKey, putDocument } from './write.ts';

interface Stored {
  readonly store: Store;
  readonly actors: ActorRegistry;
}

/** Returns the record with no time after now; the same one when it has none. Pure. */
function mendedDocument<R extends DocumentRecord>(record: R, nowMs: number): R {
  const late = Object.entries(record).filter(
    ([name, at]) => name.endsWith('_at') && typeof at === 'string' && isFromTheFuture(Date.parse(at), nowMs),
  );
  if (late.length === 0) return record;
  const now = new Date(nowMs).toISOString();
  return { ...record, ...Object.fromEntries(late.map(([name]) => [name, now])) };
}

/** Resolves with the number of documents of a kind that are dated in the future; with `apply`, they are mended. */
export async function mendDocumentTimes<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  { store, actors }: Stored,
  nowMs: number,
  apply: boolean,
): Promise<number> {
  let found = 0;
  for (let after: [string, number] | undefined; ; ) {
    const beyond = after === undefined ? {} : { beyond: after };
    const rows = store.range(kind.records, { prefix: [], ...beyond, limit: limits.mendRowsMax });
    for (const { key, value } of rows) {
      if (mendedDocument(value, nowMs) === value) continue;
      found += 1;
      if (apply) await actors.account(key[0]).ask((batch) => mendOne(kind, batch, key, nowMs));
    }
    after = rows.at(-1)?.key;
    if (after === undefined) return found;
    await new Promise(setImmediate);
  }
}

function mendOne<R extends DocumentRecord, H>(
  kind: DocumentKind<R, H>,
  batch: Batch,
  [accountId, id]: [accountId: string, id: number],
  nowMs: number,
): void {
  const record = batch.get(kind.records, [accountId, id]);
  if (record === undefined) return;
  const text = () => keptText(batch, { accountId, space: kind.space, id }, record.version);
  putDocument(kind, batch, accountId, { record, text }, { record: mendedDocument(record, nowMs), text });
}

/** Resolves with the number of versions of all kinds that are dated in the future; with `apply`, they are mended. */
export async function mendVersionTimes({ store, actors }: Stored, nowMs: number, apply: boolean): Promise<number> {
  let found = 0;
  for (let after: VersionKey | undefined; ; ) {
    const beyond = after === undefined ? {} : { beyond: after };
    const rows = store.range(versionRows, { prefix: [], ...beyond, limit: limits.mendRowsMax });
    for (const { key, value } of rows) {
      if (!isFromTheFuture(Date.parse(value.created_at), nowMs)) continue;
      found += 1;
      if (apply) await actors.account(key[0]).ask((batch) => mendVersion(batch, key, nowMs));
    }
    after = rows.at(-1)?.key;
    if (after === undefined) return found;
    await new Promise(setImmediate);
  }
}

/** A version that replaced another put that one into the trash at its own time. */
function mendVersion(batch: Batch, key: VersionKey, nowMs: number): void {
  const row = batch.get(versionRows, key);
  if (row === undefined) return;
  const created_at = new Date(nowMs).toISOString();
  batch.put(versionRows, key, { ...row, created_at });
  const [accountId, space, id, version] = key;
  const name = { accountId, space, id };
  for (const { key: kept } of batch.range(versionRows, { prefix: [accountId, space, id] })) {
    const inBin = binKey(row.created_at, name, kept[3]);
    if (kept[3] >= version || batch.get(documentBin, inBin) === undefined) continue;
    batch.remove(documentBin, inBin);
    batch.put(documentBin, binKey(created_at, name, kept[3]), {});
  }
}
