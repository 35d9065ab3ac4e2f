/** Gives the pages of vaults what they show of file sync, in the form that they ask for. */
import { invalidField, Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Pool } from '../pool/pool.ts';
import { TextComparer } from '../sync/compare/comparer.ts';
import type { FileRecord } from '../sync/log/file-record.ts';
import { compileGlob, matchesGlob } from '../sync/log/glob.ts';
import { checkPath } from '../sync/log/paths.ts';
import type { Conflict } from '../sync/log/reader.ts';
import type { Sync } from '../sync/service.ts';
import { foldCase } from '../text/fold-case.ts';
import type { ConflictRow, FileRow, VaultService } from '../web/vaults/services.ts';

export interface VaultPartsInput {
  readonly sync: Sync;
  readonly pool: Pool;
}

export function vaultService({ sync, pool }: VaultPartsInput): VaultService {
  const { vaults, reader, history, conflicts, merges } = sync;
  const comparer = new TextComparer(pool);
  /** The newest version of a path of an account's vault. */
  const fileOf = (accountId: string, vaultId: string, given: string): FileRecord => {
    vaults.record(accountId, vaultId);
    const { path, folded } = checkPath(given);
    const file = reader.file(vaultId, folded);
    if (file === undefined) throw new Refusal({ kind: 'path_not_found', path, deletedAt: null });
    return file;
  };
  return {
    list: (accountId) => vaults.list(accountId).map(vaultRow),
    async create(accountId, given) {
      const { id, status } = await vaults.create(accountId, checkName(given), undefined);
      return { id, isNew: status === 'created' };
    },
    async files(accountId, vaultId, query) {
      vaults.record(accountId, vaultId);
      const found = await findFiles(sync.reading.listings, vaultId, query);
      return { files: found.files.map(fileRow), next: found.next };
    },
    file: (accountId, vaultId, path) => fileRow(fileOf(accountId, vaultId, path)),
    version(accountId, vaultId, path, seq) {
      const file = fileOf(accountId, vaultId, path);
      const meta = reader.versionMeta(vaultId, seq);
      const isOfPath = meta !== undefined && checkPath(meta.path).folded === checkPath(file.path).folded;
      if (!isOfPath)
        throw new Refusal({ kind: 'not_found', what: 'there is no such version of this file, or no longer' });
      return { sizeBytes: meta.size_bytes, content: () => reader.content(vaultId, seq) };
    },
    history: (accountId, query) => history.list(accountId, query),
    restore: (accountId, request) => history.restore(accountId, { ...request, deviceId: undefined }),
    async conflicts(accountId, query) {
      const page = await conflicts.pending(accountId, { ...query, path: undefined });
      return { conflicts: page.conflicts.map(conflictRow), cursor: page.cursor };
    },
    sides(accountId, vaultId, conflictId) {
      const { conflict, yours, current } = conflicts.sides(accountId, vaultId, conflictId);
      return {
        conflict: conflictRow(conflict),
        yours,
        current: current && { file: fileRow(current.record), bytes: current.bytes },
      };
    },
    async merged(accountId, vaultId, conflictId) {
      const { content } = await merges.merge(accountId, { vault_id: vaultId, conflict_id: conflictId });
      return content?.encoding === 'utf-8' ? content.text : undefined;
    },
    resolve: (accountId, request) => conflicts.resolve(accountId, { ...request, deviceId: undefined }),
    diff: (before, after) =>
      comparer.diff({ before, after, beforeName: 'theirs', afterName: 'mine', contextLines: limits.diffContextLines }),
  };
}

function vaultRow({ id, record, head }: ReturnType<Sync['vaults']['list']>[number]) {
  return {
    id,
    name: record.name,
    isPrimary: record.is_primary,
    files: head.files,
    bytes: head.bytes,
    pendingConflicts: head.pending,
    changedAt: head.seq === 0 ? null : new Date(head.stored_ms).toISOString(),
  };
}

function fileRow(file: FileRecord): FileRow {
  return {
    path: file.path,
    seq: file.seq,
    deleted: file.deleted,
    sha256: file.sha256,
    sizeBytes: file.size_bytes,
    storedAt: new Date(file.stored_ms).toISOString(),
    deviceId: file.device_id,
  };
}

function conflictRow({ id, record }: Conflict): ConflictRow {
  return {
    id,
    path: record.path,
    kind: record.kind,
    deviceId: record.device_id,
    detectedAt: record.detected_at,
    status: record.status,
  };
}

/** As the tool that makes vaults takes it. */
function checkName(given: string): string {
  const name = given.trim();
  if (name === '' || name.length > limits.vaultNameCharsMax || /[\p{Cc}\p{Cs}]/u.test(name)) {
    throw invalidField('name', `name must have 1 to ${limits.vaultNameCharsMax} printable characters`);
  }
  return name;
}

interface FileQuery {
  readonly search: string;
  /** Only behind this folded path. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Current files in the order of their paths. Looks at a bounded number of them. */
async function findFiles(listings: Sync['reading']['listings'], vaultId: string, query: FileQuery) {
  const { search, after, limit } = query;
  const passes = matcherOf(search);
  const found: FileRecord[] = [];
  let looked = 0;
  let last = after;
  for await (const { folded, file } of listings.walk(vaultId, '', after)) {
    const isMatch = !file.deleted && passes(file.path);
    if (looked === limits.listScanMax || (isMatch && found.length === limit)) return { files: found, next: last };
    if (isMatch) found.push(file);
    looked += 1;
    last = folded;
  }
  return { files: found, next: undefined };
}

/** A pattern with wildcards, else any part of the path; case does not count. */
function matcherOf(search: string): (path: string) => boolean {
  if (search === '') return () => true;
  if (/[*?]/.test(search)) {
    const glob = compileGlob(search);
    return (path) => matchesGlob(glob, path);
  }
  const folded = foldCase(search);
  return (path) => foldCase(path).includes(folded);
}
