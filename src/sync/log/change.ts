/**
 * Writes the changes of one decision into a vault: versions and the rows derived from them. Reads within a decision do
 * not see its own puts, so counters are kept here and written once, by `finish`.
 */

import { isChunked } from '../../limits/large-file.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { FileRecord } from './file-record.ts';
import type { FileBytes } from './file-room.ts';
import { formatHlc, type Hlc, type HubClock, parseHlc, raisedAbove, sendTick, trusted } from './hlc.ts';
import { foldersOf, type VaultPath } from './paths.ts';
import { type Conflict, SyncReader } from './reader.ts';
import type { ReadyContent } from './ready-content.ts';
import {
  type ConflictRecord,
  type ConflictStatus,
  conflicts,
  files,
  folders,
  pendingConflicts,
  usage,
  type VaultHead,
  vaultHeads,
  versions,
} from './records.ts';
import { encodeVersion, type NewMeta, type VersionStatus } from './version.ts';

/** The vault of a decision, and the hub's node in clocks. */
export interface VaultScope {
  readonly accountId: string;
  readonly vaultId: string;
  /** 16 hex characters. */
  readonly nodeId: string;
}

export interface NewEntry {
  readonly path: VaultPath;
  /** The newest version of the path before this one. */
  readonly before: FileRecord | undefined;
  readonly status: VersionStatus;
  /** Undefined: a tombstone. */
  readonly content: ReadyContent | undefined;
  /** Null: uses the hub's own clock. */
  readonly hlc: string | null;
  readonly deviceId: string;
  readonly mtime: string | null;
  readonly executable: boolean;
  /** Former path or spelling of the file. For another path, the change before this one must be the tombstone there. */
  readonly renamedFrom?: string | undefined;
  /**
   * For writing a log again: its place in the log, and the hashes of a deleted file. Undefined: the next number, now.
   */
  readonly place?: EntryReplay | undefined;
}

interface EntryReplay {
  readonly seq: number;
  readonly storedMs: number;
  readonly deleted: { readonly sha256: string; readonly gitSha: string };
}

type Writable<T> = { -readonly [field in keyof T]: T[field] };

export class LogChange {
  readonly reader: SyncReader;
  readonly #batch: Batch;
  readonly #scope: VaultScope;
  readonly #nowMs: number;
  readonly #head: Writable<VaultHead>;
  /** Bytes of current files and pending conflicts added by this change, for the vault and so for the account. */
  #grownBytes = 0;
  #usedBefore: FileBytes | undefined;
  readonly #keptBefore: number;
  /** Folder counters after this change. */
  readonly #children = new Map<string, number>();

  constructor(batch: Batch, scope: VaultScope, nowMs: number) {
    this.#batch = batch;
    this.reader = new SyncReader(batch);
    this.#scope = scope;
    this.#nowMs = nowMs;
    // Decoded for this call only, so it may be modified.
    this.#head = this.reader.head(scope.vaultId);
    this.#keptBefore = this.#head.kept_bytes;
  }

  /** The head as `finish` will write it. */
  get head(): VaultHead {
    return this.#head;
  }

  get clock(): HubClock {
    return trusted({ ms: this.#head.hlc_ms, counter: this.#head.hlc_counter }, this.#nowMs);
  }

  /** Returns the hub's next clock, for a change whose client has none. */
  clockOf(nowMs: number): Hlc {
    return { ...sendTick(this.clock, nowMs), node: this.#scope.nodeId };
  }

  /** Bytes counted by the quotas of the account, including this change. */
  get used(): FileBytes {
    this.#usedBefore ??= this.reader.useOf(this.#scope.accountId);
    const { files, history } = this.#usedBefore;
    const keptBytes = this.#head.kept_bytes - this.#keptBefore;
    return { files: files + this.#grownBytes, history: history + keptBytes - this.#grownBytes };
  }

  setClock({ ms, counter }: HubClock): void {
    this.#head.hlc_ms = ms;
    this.#head.hlc_counter = counter;
  }

  /** Stores the next version and makes it the current one of its path. */
  append(entry: NewEntry): FileRecord {
    const { path, before, content } = entry;
    const seq = entry.place?.seq ?? this.#head.seq + 1;
    const storedMs = entry.place?.storedMs ?? timeAfter(this.#head.stored_ms, this.#nowMs);
    const hlc = entry.hlc ?? this.#ownHlc(before);
    const of = content ?? { ...deletedOf(entry), sizeBytes: 0 };
    const meta = metaOf(entry, of, { seq, storedMs, hlc });
    const previousSeq = before?.seq ?? 0;
    const made = encodeVersion({ meta, storedMs, previousSeq, moved: hasMoved(entry), content: content?.stored });
    const record: FileRecord = {
      path: path.path,
      seq,
      deleted: content === undefined,
      sha256: of.sha256,
      git_sha: of.gitSha,
      hlc,
      size_bytes: of.sizeBytes,
      stored_ms: storedMs,
      device_id: entry.deviceId,
      mtime: entry.mtime,
      executable: content !== undefined && entry.executable,
      line_bytes: made.lineBytes,
      versions: (before?.versions ?? 0) + 1,
    };
    this.#batch.put(versions, [this.#scope.vaultId, seq], made.bytes);
    this.#batch.put(files, [this.#scope.vaultId, path.folded], record);
    this.#count(path.folded, before, record);
    return record;
  }

  /** The clock of the hub for a version: above the one before, whatever time that has. */
  #ownHlc(before: FileRecord | undefined): string {
    const { hlc_ms: ms, hlc_counter: counter } = this.#head;
    const last = before && parseHlc(before.hlc, before.device_id);
    if (last !== undefined) this.setClock(raisedAbove({ ms, counter }, last));
    return formatHlc({ ms: this.#head.hlc_ms, counter: this.#head.hlc_counter, node: this.#scope.nodeId });
  }

  /** Stores the content of a refused push as a pending conflict. */
  keep(folded: string, { id, record }: Conflict): void {
    const { vaultId } = this.#scope;
    this.#batch.put(conflicts, [vaultId, id], record);
    this.#batch.put(pendingConflicts, [vaultId, folded, id], {});
    this.#head.pending += 1;
    this.#grownBytes += record.size_bytes;
    this.#head.kept_bytes += keptBytes(record.size_bytes);
  }

  /** Stores a conflict that was settled elsewhere. */
  keepSettled({ id, record }: Conflict): void {
    this.#batch.put(conflicts, [this.#scope.vaultId, id], record);
    this.#head.kept_bytes += keptBytes(record.size_bytes);
  }

  /** Settles a pending conflict. Its bytes stay until retention removes them. */
  settle(
    folded: string,
    { id, record }: Conflict,
    status: Exclude<ConflictStatus, 'pending'>,
    seq: number | null,
  ): void {
    const { vaultId } = this.#scope;
    const settled: ConflictRecord = {
      ...record,
      status,
      settled_at: new Date(this.#nowMs).toISOString(),
      settled_seq: seq,
    };
    this.#batch.put(conflicts, [vaultId, id], settled);
    this.#batch.remove(pendingConflicts, [vaultId, folded, id]);
    this.#head.pending -= 1;
    this.#grownBytes -= record.size_bytes;
  }

  /** Makes a settled conflict wait again. */
  reopen(folded: string, { id, record }: Conflict): void {
    const { vaultId } = this.#scope;
    this.#batch.put(conflicts, [vaultId, id], { ...record, status: 'pending', settled_at: null, settled_seq: null });
    this.#batch.put(pendingConflicts, [vaultId, folded, id], {});
    this.#head.pending += 1;
    this.#grownBytes += record.size_bytes;
  }

  /** Counts a chunk that this change stores. */
  countChunk(bytes: number): void {
    this.#head.kept_bytes += chunkKeptBytes(bytes);
  }

  /** Writes the counters. Call it once, at the end. */
  finish(): void {
    this.#batch.put(vaultHeads, [this.#scope.vaultId], this.#head);
    if (this.#grownBytes !== 0) {
      const { vaultId } = this.#scope;
      this.#batch.put(usage, [vaultId], { bytes: this.reader.usageOf(vaultId) + this.#grownBytes });
    }
    for (const [folder, children] of this.#children) {
      const key: [string, string] = [this.#scope.vaultId, folder];
      if (children > 0) this.#batch.put(folders, key, { children });
      else this.#batch.remove(folders, key);
    }
  }

  #count(folded: string, before: FileRecord | undefined, record: FileRecord): void {
    const head = this.#head;
    const wasLive = before !== undefined && !before.deleted;
    const isLive = !record.deleted;
    const sign = Number(isLive) - Number(wasLive);
    const sizeBefore = wasLive ? before.size_bytes : 0;
    this.#grownBytes += record.size_bytes - sizeBefore;
    head.seq = record.seq;
    head.stored_ms = record.stored_ms;
    head.files += sign;
    head.tombstones += Number(!isLive) - Number(before?.deleted ?? false);
    head.bytes += record.size_bytes - sizeBefore;
    head.kept_bytes += keptBytes(record.size_bytes);
    head.line_bytes += (isLive ? record.line_bytes : 0) - (wasLive ? before.line_bytes : 0);
    if (sign !== 0) this.#countInFolders(folded, sign);
  }

  /** A folder counts in its parent folder as long as it contains anything live. */
  #countInFolders(folded: string, sign: number): void {
    for (const folder of foldersOf(folded)) {
      const was = this.#children.get(folder) ?? this.reader.childrenOf(this.#scope.vaultId, folder);
      this.#children.set(folder, was + sign);
      const appeared = was === 0;
      const vanished = was + sign === 0;
      if (!appeared && !vanished) return;
    }
  }
}

/** Bytes counted for a kept version or conflict: its content and a fixed amount. Chunks are counted once, where they are stored. */
export function keptBytes(sizeBytes: number): number {
  return (isChunked(sizeBytes) ? 0 : sizeBytes) + limits.recordCountedBytes;
}

/** Bytes counted for a stored chunk: its own and a fixed amount, so that many of a few bytes fill a quota too. */
export function chunkKeptBytes(bytes: number): number {
  return bytes + limits.recordCountedBytes;
}

interface EntryPlace {
  readonly seq: number;
  readonly storedMs: number;
  readonly hlc: string;
}

interface Hashes {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
}

/** True when the file had another path before. A new spelling of the same folded path stays in its own history. */
function hasMoved({ renamedFrom, path }: NewEntry): boolean {
  return renamedFrom !== undefined && foldCase(renamedFrom) !== path.folded;
}

/** The hashes of the content deleted by a tombstone. */
function deletedOf({ before, place }: NewEntry): Omit<Hashes, 'sizeBytes'> {
  return place?.deleted ?? { sha256: before?.sha256 ?? '', gitSha: before?.git_sha ?? '' };
}

/** Runs for each push, so it builds one object literal: combining objects takes microseconds. */
function metaOf(entry: NewEntry, of: Hashes, place: EntryPlace): NewMeta {
  const { path, before, content, renamedFrom } = entry;
  const storedAt = new Date(place.storedMs).toISOString();
  // Another spelling of the same folded path is a new name for a client that has the old one.
  const formerName = renamedFrom ?? (before !== undefined && before.path !== path.path ? before.path : undefined);
  return {
    type: content === undefined ? 'deleted' : 'file',
    seq: place.seq,
    path: path.path,
    sha256: of.sha256,
    git_sha: of.gitSha,
    hlc: place.hlc,
    size_bytes: of.sizeBytes,
    stored_at: storedAt,
    deleted_at: content === undefined ? storedAt : undefined,
    device_id: entry.deviceId,
    remote_mtime: entry.mtime,
    status: entry.status,
    executable: content !== undefined && entry.executable ? true : undefined,
    renamed_from: formerName,
    encoding: content === undefined || content.encoding === 'utf-8' ? undefined : content.encoding,
  };
}

/**
 * Time in milliseconds at which a version is stored: after the version before it, unless the clock had jumped ahead
 * then.
 */
function timeAfter(beforeMs: number, nowMs: number): number {
  return beforeMs > nowMs + limits.clockJumpMs ? nowMs : Math.max(nowMs, beforeMs + 1);
}
