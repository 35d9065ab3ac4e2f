/** What reads must show: pulls in every mode, listings, histories, conflicts. Each is held against the model. */
import assert from 'node:assert/strict';
import { sha256Of } from '../../support/sync.ts';
import { type Conflict, fold, nfc, type Version } from './hub-model.ts';
import type { Stage } from './stage.ts';

/** A file or a tombstone as a pull gives it. */
export interface Pulled {
  readonly type: 'file' | 'deleted';
  readonly seq: number;
  readonly path: string;
  readonly sha256: string;
  readonly git_sha: string;
  readonly hlc: string;
  readonly size_bytes: number;
  readonly stored_at: string;
  readonly device_id: string;
  readonly content?: string;
}

interface PullAnswer {
  readonly files: readonly Pulled[];
  readonly deleted: readonly Pulled[];
  readonly missing?: readonly string[];
  readonly total_count: number;
  readonly total_size_bytes: number;
  readonly cursor: string | null;
  readonly has_more: boolean;
}

/** Where a reader stands. */
export interface Place {
  /** Undefined: at the very beginning. */
  readonly cursor: string | undefined;
  /** What was shown up to. */
  readonly seq: number;
  /** Deletions up to here are not told. */
  readonly deletesAfter: number;
}

export const BEGINNING: Place = { cursor: undefined, seq: 0, deletesAfter: 0 };

export interface Page {
  readonly records: readonly Pulled[];
  readonly next: Place;
  readonly hasMore: boolean;
}

/** One page of what changed after a place; it must be exactly what the model has there. */
export async function pullPage(stage: Stage, place: Place, { limit = 1000, device }: PageOptions = {}): Promise<Page> {
  const { model } = stage;
  const deletesAfter = place.cursor === undefined ? model.seq : place.deletesAfter;
  const wanted = changes(stage, ({ seq, deleted }) => seq > place.seq && !(deleted && seq <= deletesAfter), device);
  const page = await pull(stage, { ...startOf(place), limit, ...(device === undefined ? {} : { device_id: device }) });
  assert.deepEqual(page.records.map(shown), wanted.slice(0, limit).map(modelled));
  assert.equal(page.hasMore, wanted.length > limit);
  const seq = page.hasMore ? (wanted[limit - 1]?.seq ?? 0) : model.seq;
  return { ...page, next: { cursor: page.next.cursor, seq, deletesAfter: page.hasMore ? deletesAfter : 0 } };
}

interface PageOptions {
  readonly limit?: number;
  /** Its own newest versions are left out. */
  readonly device?: string;
}

/** A page while others write: only what holds for any is checked here. */
export async function pullAmongWrites(stage: Stage, place: Place, limit: number): Promise<Page> {
  const page = await pull(stage, { ...startOf(place), limit });
  for (const { seq } of page.records) assert.ok(seq > place.seq, 'a cursor gives nothing twice');
  return {
    ...page,
    next: { ...page.next, seq: page.records.at(-1)?.seq ?? place.seq, deletesAfter: place.deletesAfter },
  };
}

/** Everything that was stored after a time that the hub gave. */
export async function pullSince(stage: Stage, since: string): Promise<readonly Pulled[]> {
  const { records } = await pull(stage, { since });
  assert.deepEqual(records.map(shown), changes(stage, ({ storedAt }) => storedAt > since).map(modelled));
  return records;
}

export async function pullPaths(stage: Stage, paths: readonly string[]): Promise<void> {
  const { model } = stage;
  const answer = await stage.result<PullAnswer>('sync_pull', { paths });
  const folded = new Set(paths.map(fold));
  const wanted = changes(stage, (version) => folded.has(fold(version.path)));
  assert.deepEqual(inOrder(answer).map(shown), wanted.map(modelled));
  const missing = paths.map(nfc).filter((path) => model.newest(path) === undefined);
  assert.deepEqual(new Set(answer.missing), new Set(missing));
}

export async function pullOne(stage: Stage, path: string): Promise<void> {
  const { result, error } = await stage.call('sync_pull', { path });
  const live = stage.model.live(path);
  const newest = stage.model.newest(path);
  if (live === undefined) {
    assert.equal(error?.code, -32005);
    assert.equal(error?.data?.['deleted_at'], newest?.storedAt);
    return;
  }
  assert.deepEqual(shown(result?.['structuredContent'] as Pulled), modelled(live));
}

/** The whole listing, page by page, deleted files too. */
export async function list(stage: Stage, limit: number): Promise<void> {
  const { model } = stage;
  const found: (Omit<Pulled, 'type'> & { readonly deleted: boolean })[] = [];
  let cursor: string | null = null;
  do {
    const more: { cursor?: string } = cursor === null ? {} : { cursor };
    const page = await stage.result<ListAnswer>('sync_list', { include_deleted: true, limit, ...more });
    assert.equal(page.total_count, model.liveFiles().length);
    assert.equal(
      page.total_size_bytes,
      model.liveFiles().reduce((total, { bytes }) => total + bytes, 0),
    );
    found.push(...page.files);
    cursor = page.cursor;
  } while (cursor !== null);
  const all = [...model.files].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const wanted = all.flatMap(([, versions]) => versions.slice(-1));
  assert.deepEqual(
    found.map((file) => [file.path, file.seq, file.sha256, file.deleted, file.hlc, file.stored_at]),
    wanted.map((version) => [version.path, version.seq, version.sha, version.deleted, version.hlc, version.storedAt]),
  );
}

interface ListAnswer {
  readonly files: readonly (Omit<Pulled, 'type'> & { readonly deleted: boolean })[];
  readonly total_count: number;
  readonly total_size_bytes: number;
  readonly cursor: string | null;
}

export interface HistoryVersion extends Omit<Pulled, 'type' | 'content'> {
  readonly deleted: boolean;
  readonly status: string;
}

/** The newest versions of a path. */
export async function versionsOf(stage: Stage, path: string, limit: number): Promise<readonly HistoryVersion[]> {
  const answer = await stage.result<{ versions: HistoryVersion[] }>('sync_history', { path, limit });
  return answer.versions;
}

/** The history of every path: complete, in order, each version as it was answered. */
export async function histories(stage: Stage): Promise<void> {
  for (const [{ path } = { path: '' }] of stage.model.files.values()) {
    const versions = stage.model.lineageOf(path);
    const found = await versionsOf(stage, path, 200);
    assert.deepEqual(
      found.map((one) => [
        one.seq,
        one.path,
        one.deleted,
        one.sha256,
        one.git_sha,
        one.hlc,
        one.device_id,
        one.stored_at,
      ]),
      versions.map((one) => [one.seq, one.path, one.deleted, one.sha, one.gitSha, one.hlc, one.device, one.storedAt]),
    );
  }
}

/** Every conflict that is pending, and no other. */
export async function pendingConflicts(stage: Stage): Promise<void> {
  interface Listed {
    readonly conflict_id: string;
    readonly path: string;
    readonly your_sha256: string | null;
    readonly device_id: string;
  }
  const { conflicts } = await stage.result<{ conflicts: Listed[] }>('sync_pending_conflicts', { limit: 100 });
  const told = conflicts.map((one) => [one.conflict_id, fold(one.path), one.your_sha256, one.device_id]);
  const pending = [...stage.model.conflicts.values()].filter(({ status }) => status === 'pending');
  const wanted = pending.map(({ id, path, sha, device }: Conflict) => [id, fold(path), sha, device]);
  assert.deepEqual(new Set(told.map(String)), new Set(wanted.map(String)));
}

function startOf({ cursor }: Place): object {
  return cursor === undefined ? { initial: true } : { cursor };
}

async function pull(stage: Stage, args: object): Promise<Page> {
  const answer = await stage.result<PullAnswer>('sync_pull', args);
  const records = inOrder(answer);
  for (const { content, sha256, type } of records) if (type === 'file') assert.equal(sha256Of(content ?? ''), sha256);
  assert.equal(answer.total_count, answer.files.length);
  assert.equal(
    answer.total_size_bytes,
    answer.files.reduce((total, file) => total + file.size_bytes, 0),
  );
  return { records, hasMore: answer.has_more, next: { ...BEGINNING, cursor: answer.cursor ?? undefined } };
}

function inOrder({ files, deleted }: PullAnswer): Pulled[] {
  const rises = (records: readonly Pulled[]) => records.every(({ seq }, at) => seq > (records[at - 1]?.seq ?? 0));
  assert.ok(rises(files) && rises(deleted), 'records come in the order of their sequence numbers');
  return [...files, ...deleted].sort((a, b) => a.seq - b.seq);
}

/** The newest versions that pass, in order. */
function changes(stage: Stage, passes: (version: Version) => boolean, exceptDevice?: string): Version[] {
  const newest = [...stage.model.files.values()].flatMap((versions) => versions.slice(-1));
  return newest.filter((one) => passes(one) && one.device !== exceptDevice).sort((a, b) => a.seq - b.seq);
}

function shown({ seq, path, type, sha256, git_sha, hlc, size_bytes, stored_at, device_id }: Pulled): unknown[] {
  return [seq, path, type === 'deleted', sha256, git_sha, hlc, size_bytes, stored_at, device_id];
}

function modelled({ seq, path, deleted, sha, gitSha, hlc, bytes, storedAt, device }: Version): unknown[] {
  return [seq, path, deleted, sha, gitSha, hlc, bytes, storedAt, device];
}
