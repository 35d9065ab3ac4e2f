/**
 * Reads the log of a vault: files, versions, contents, conflicts. Over the batch of a decision, it sees the writes of
 * earlier decisions in the same commit.
 */

import { hash } from 'node:crypto';
import { invalidField, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Damage, DamagedKind } from '../../store/data-file/damage.ts';
import type { Reader } from '../../store/table.ts';
import type { Chunk } from '../../text/chunk-list.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { FileRecord } from './file-record.ts';
import type { FileBytes } from './file-room.ts';
import { readChunkList } from './large-content.ts';
import { contentOfVersion, type ReadyContent } from './ready-content.ts';
import {
  type ConflictRecord,
  conflictBytes,
  conflicts,
  fileChunks,
  files,
  folders,
  pendingConflicts,
  pieces,
  primaries,
  usage,
  type VaultHead,
  type VaultRecord,
  vaultHeads,
  vaults,
  versions,
  versionsAside,
} from './records.ts';
import { wholeContent } from './stored-content.ts';
import {
  decodeContent,
  readVersionHead,
  readVersionMeta,
  type VersionHead,
  type VersionMeta,
  versionGitSha,
  versionSha256,
} from './version.ts';

export interface VaultOf {
  readonly accountId: string;
  readonly vaultId: string;
}

/** One version in the chain of a path. */
export interface ChainLink extends VersionHead {
  readonly seq: number;
  readonly sha256: string;
  readonly gitSha: string;
}

/** The bytes of a version, and those of its pieces; empty: it has none. */
export interface VersionBytes {
  readonly version: Uint8Array;
  readonly escaped: Uint8Array;
}

export interface Conflict {
  readonly id: string;
  readonly record: ConflictRecord;
}

export class SyncReader {
  readonly #store: Reader;

  readonly #damage: Pick<Damage, 'note'> | undefined;

  /** Within a decision, pass its batch. `damage` is notified of contents that do not match their hash. */
  constructor(store: Reader, damage?: Pick<Damage, 'note'>) {
    this.#store = store;
    this.#damage = damage;
  }

  /** The id of the primary vault of an account; undefined before its first use. */
  primaryOf(accountId: string): string | undefined {
    return this.#store.get(primaries, [accountId])?.vault_id;
  }

  /** A vault of an account. Undefined when it does not exist or belongs to another account. */
  vault(accountId: string, vaultId: string): VaultRecord | undefined {
    return this.#store.get(vaults, [accountId, vaultId]);
  }

  /** The head of a vault. The caller may modify the returned object. */
  head(vaultId: string): VaultHead {
    return this.#store.get(vaultHeads, [vaultId]) ?? emptyHead();
  }

  /** The newest version of a path, tombstones included. */
  file(vaultId: string, folded: string): FileRecord | undefined {
    return this.#store.get(files, [vaultId, folded]);
  }

  /** Number of live files and folders directly in a folder; 0 when it does not exist. */
  childrenOf(vaultId: string, folder: string): number {
    return this.#store.get(folders, [vaultId, folder])?.children ?? 0;
  }

  /** Content bytes of the current files and pending conflicts of a vault. */
  usageOf(vaultId: string): number {
    return this.#store.get(usage, [vaultId])?.bytes ?? 0;
  }

  /** Bytes counted by the quotas of an account, over all its vaults. */
  useOf(accountId: string): FileBytes {
    let files = 0;
    let kept = 0;
    for (const [, vaultId] of this.#store.keys(vaults, [accountId])) {
      files += this.usageOf(vaultId);
      kept += this.#store.get(vaultHeads, [vaultId])?.kept_bytes ?? 0;
    }
    return { files, history: kept - files };
  }

  /** Sequence numbers of the versions set aside because their contents are damaged. */
  setAsideOf(vaultId: string): number[] {
    return [...this.#store.keys(versionsAside, [vaultId])].map(([, seq]) => seq);
  }

  isSetAside(vaultId: string, seq: number): boolean {
    return this.#store.get(versionsAside, [vaultId, seq]) !== undefined;
  }

  /** When a change was stored (milliseconds since 1970); null when retention has removed it, or it never existed. */
  storedMsOf(vaultId: string, seq: number): number | null {
    return this.versionHead(vaultId, seq)?.storedMs ?? null;
  }

  versionHead(vaultId: string, seq: number): VersionHead | undefined {
    const bytes = this.#store.view(versions, [vaultId, seq]);
    return bytes && readVersionHead(bytes);
  }

  versionMeta(vaultId: string, seq: number): VersionMeta | undefined {
    const bytes = this.#store.view(versions, [vaultId, seq]);
    return bytes && readVersionMeta(bytes);
  }

  /**
   * The content of a version as in its line, with base64 not decoded. Undefined for a tombstone or an unknown version.
   * Throws Refusal `damaged` when it does not match its hash.
   */
  contentText(vaultId: string, seq: number): string | undefined {
    const stored = this.versionBytes(vaultId, seq);
    if (stored === undefined) return undefined;
    const whole = wholeContent(stored.version, () => stored.escaped);
    if (whole === undefined) throw this.damagedVersion(vaultId, seq);
    return whole.text;
  }

  /** The bytes of a version and of its content, for `wholeContent`. Undefined for an unknown version. */
  versionBytes(vaultId: string, seq: number): VersionBytes | undefined {
    const version = this.#store.get(versions, [vaultId, seq]);
    if (version === undefined) return undefined;
    const { storageId } = readVersionHead(version);
    return { version, escaped: storageId === 0 ? new Uint8Array(0) : this.escapedContent(storageId) };
  }

  /** Notes that the content of a version does not match its hash, and returns the Refusal that says so. */
  damagedVersion(vaultId: string, seq: number): Error {
    return this.#damaged('version', { vault_id: vaultId, seq });
  }

  /** The content of a version, to be shared by another version. Undefined for a tombstone or an unknown version. */
  readyContent(vaultId: string, seq: number): ReadyContent | undefined {
    const bytes = this.#store.get(versions, [vaultId, seq]);
    return bytes && contentOfVersion(bytes);
  }

  /**
   * The decoded content of a version. Undefined for a tombstone or an unknown version. Throws Refusal `damaged` when it
   * does not match its hash, `invalid_fields` for a large file, whose bytes are in chunks.
   */
  content(vaultId: string, seq: number): Buffer | undefined {
    const head = this.versionHead(vaultId, seq);
    if (head === undefined) return undefined;
    const { encoding } = head;
    if (encoding === 'chunks') throw tooLarge();
    const text = this.contentText(vaultId, seq);
    return text === undefined ? undefined : decodeContent(text, encoding);
  }

  /** The chunks of a large file; undefined for another version. Throws Refusal `damaged` when the list is damaged. */
  chunksOf(vaultId: string, seq: number): readonly Chunk[] | undefined {
    if (this.versionHead(vaultId, seq)?.encoding !== 'chunks') return undefined;
    return readChunkList(this.contentText(vaultId, seq) ?? '');
  }

  /** True when a vault stores chunks, so that it has, or had, a large file. */
  hasChunks(vaultId: string): boolean {
    return !this.#store.keysIn(fileChunks, { prefix: [vaultId], limit: 1 }).next().done;
  }

  /** The pieces of a storage id, concatenated. */
  escapedContent(storageId: number): Buffer {
    const found: Uint8Array[] = [];
    for (const key of this.#store.keys(pieces, [storageId])) {
      const piece = this.#store.get(pieces, key);
      if (piece !== undefined) found.push(piece);
    }
    return Buffer.concat(found);
  }

  /** The kept versions of a path, from `seq` to older ones. Stop iterating early: a busy path has very many. */
  *chain(vaultId: string, seq: number): Generator<ChainLink> {
    let at = seq;
    while (at !== 0) {
      const bytes = this.#store.view(versions, [vaultId, at]);
      // Retention removed this version and the older ones.
      if (bytes === undefined) return;
      const head = readVersionHead(bytes);
      const link = Object.assign(head, { seq: at, sha256: versionSha256(bytes), gitSha: versionGitSha(bytes) });
      yield link;
      at = link.previousSeq;
    }
  }

  /**
   * Returns the last version of a renamed file on the path that it left, or 0. A rename writes the tombstone of the old
   * path, then the file at its new path, so the numbers of the two are consecutive.
   */
  seqBeforeMove(vaultId: string, { seq, renamed_from: from = '' }: VersionMeta): number {
    const tombstone = this.versionMeta(vaultId, seq - 1);
    const isOfMove = tombstone?.type === 'deleted' && foldCase(tombstone.path) === foldCase(from);
    return isOfMove ? (this.versionHead(vaultId, seq - 1)?.previousSeq ?? 0) : 0;
  }

  hasConflict(vaultId: string, conflictId: string): boolean {
    return this.#store.get(conflicts, [vaultId, conflictId]) !== undefined;
  }

  /** A conflict, pending or settled. Throws Refusal `not_found` when it does not exist. */
  conflict(vaultId: string, conflictId: string): Conflict {
    const record = this.#store.get(conflicts, [vaultId, conflictId]);
    if (record === undefined) throw new Refusal({ kind: 'not_found', what: 'this vault has no conflict with this id' });
    return { id: conflictId, record };
  }

  /**
   * The bytes of a refused push. Undefined for a delete, or when removed long after the conflict was settled. Throws
   * Refusal `damaged` when they do not match their hash.
   */
  conflictContent(vaultId: string, conflict: Conflict): Buffer | undefined {
    const { id, record } = conflict;
    const bytes = record.your_sha256 === null ? undefined : this.#conflictBytes(vaultId, conflict);
    if (bytes !== undefined && hash('sha256', bytes) !== record.your_sha256) {
      throw this.#damaged('conflict', { vault_id: vaultId, conflict_id: id });
    }
    return bytes;
  }

  /** The stored bytes of a conflict. Unreadable pieces are returned undecoded, so that their hash does not match. */
  #conflictBytes(vaultId: string, { id, record }: Conflict): Buffer | undefined {
    if (record.storage_id === 0) {
      const bytes = this.#store.get(conflictBytes, [vaultId, id]);
      return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    if (record.encoding === 'chunks') throw tooLarge();
    const escaped = this.escapedContent(record.storage_id);
    if (escaped.length === 0) return undefined;
    try {
      return decodeContent(JSON.parse(`"${escaped.toString('utf8')}"`) as string, record.encoding);
    } catch {
      // No longer the inside of a JSON string.
      return escaped;
    }
  }

  /** The chunks of a large refused push; undefined for another conflict. Throws Refusal `damaged` when the list is damaged. */
  conflictChunks(vaultId: string, { id, record }: Conflict): readonly Chunk[] | undefined {
    if (record.encoding !== 'chunks') return undefined;
    const list = readChunkList(this.escapedContent(record.storage_id).toString('latin1'));
    if (list === undefined) throw this.#damaged('conflict', { vault_id: vaultId, conflict_id: id });
    return list;
  }

  #damaged(kind: DamagedKind, where: Readonly<Record<string, unknown>>): Refusal {
    return this.#damage?.note(kind, where) ?? new Refusal({ kind: 'damaged' });
  }

  /** Some conflicts of a vault, pending and settled, in the order of their ids, after `beyond`; empty: no more. */
  conflictsBeyond(vaultId: string, beyond: string | undefined): Conflict[] {
    const from = beyond === undefined ? {} : { beyond };
    const rows = this.#store.range(conflicts, { prefix: [vaultId], limit: limits.sweepTurnRows, ...from });
    return rows.map(({ key: [, id], value: record }) => ({ id, record }));
  }

  /** The pending conflicts of a path, oldest first. */
  pendingOf(vaultId: string, folded: string): Conflict[] {
    const found: Conflict[] = [];
    for (const [, , id] of this.#store.keys(pendingConflicts, [vaultId, folded])) {
      const record = this.#store.get(conflicts, [vaultId, id]);
      if (record !== undefined) found.push({ id, record });
    }
    return found.sort((a, b) => (a.record.detected_at < b.record.detected_at ? -1 : 1));
  }
}

/** For callers that need the bytes at once. */
function tooLarge(): Refusal {
  const mib = limits.fileBytesMax / 2 ** 20;
  return invalidField('path', `the file is larger than ${mib} MiB, so it is not read or compared here; download it`);
}

/** The head of a vault without pushes. */
function emptyHead(): VaultHead {
  return {
    seq: 0,
    stored_ms: 0,
    hlc_ms: 0,
    hlc_counter: 0,
    files: 0,
    tombstones: 0,
    bytes: 0,
    line_bytes: 0,
    pending: 0,
    kept_bytes: 0,
  };
}
