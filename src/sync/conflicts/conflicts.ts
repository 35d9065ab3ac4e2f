/** Lists pending conflicts, and settles conflicts. */

import { planOnce } from '../../actors/once/calls.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Store } from '../../store/store.ts';
import type { ChunkStore } from '../contents/chunk-store.ts';
import type { Contents, IncomingContent } from '../contents/incoming.ts';
import { shareContent } from '../contents/piece-shares.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import type { FileRoom } from '../log/file-room.ts';
import { checkPath, type VaultPath } from '../log/paths.ts';
import type { Conflict, SyncReader } from '../log/reader.ts';
import { pendingConflicts, vaults as vaultsTable } from '../log/records.ts';
import { refusedContent } from '../log/refused-content.ts';
import type { Turn, VaultLog } from '../log/vault-log.ts';
import { appendByHub, checkRoom, HUB_DEVICE, isBase } from '../push/hub-change.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { copyPath } from './copy-name.ts';
import { type ConflictSides, sidesOf } from './sides.ts';

export interface ConflictsOptions {
  readonly store: Store;
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly log: VaultLog;
  readonly contents: Contents;
  readonly chunks: Pick<ChunkStore, 'source'>;
  readonly room: FileRoom;
}

export interface PendingQuery {
  readonly vaultId: string | undefined;
  readonly path: string | undefined;
  readonly limit: number;
  /** Continues after the last conflict of an earlier page. */
  readonly cursor: string | undefined;
}

export interface PendingConflict extends Conflict {
  /** The newest version of the path. Undefined when the path has no versions. */
  readonly file: FileRecord | undefined;
}

export interface PendingPage {
  readonly vaultId: string;
  readonly conflicts: readonly PendingConflict[];
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
}

/**
 * The side to keep: the hub's, the refused push's, or content edited from both. Both: the refused push becomes a separate
 * file beside the hub's.
 */
export type Resolution =
  | { readonly side: 'theirs' }
  | { readonly side: 'yours' }
  | { readonly side: 'both' }
  | { readonly side: 'edited'; readonly text: string; readonly encoding: 'utf-8' | 'base64' };

export interface ResolveRequest {
  readonly conflictId: string;
  /** Undefined: searches all vaults of the account. */
  readonly vaultId: string | undefined;
  readonly keep: Resolution;
  /** The version that the caller saw as current. The call is rejected when another one is current. */
  readonly baseSha: string | undefined;
  readonly deviceId: string | undefined;
}

export interface PathRequest {
  readonly path: string;
  readonly vaultId: string | undefined;
  readonly keep: Exclude<Resolution, { readonly side: 'edited' }>;
  readonly baseSha: string | undefined;
  readonly deviceId: string | undefined;
}

export interface Resolved {
  readonly vaultId: string;
  readonly conflict: Conflict;
  /** The newest version of the path after settling. */
  readonly file: FileRecord | undefined;
  /** The path of the refused push, when both sides were kept. */
  readonly copy?: string | undefined;
}

interface Settled extends Resolved {
  readonly adopted: boolean;
}

export class Conflicts {
  readonly #options: ConflictsOptions;

  constructor(options: ConflictsOptions) {
    this.#options = options;
  }

  /** Pending conflicts of a vault or of one path, in the order of their folded paths. */
  async pending(accountId: string, { vaultId: given, path, limit, cursor }: PendingQuery): Promise<PendingPage> {
    const { vaults, reader, store } = this.#options;
    const vaultId = await vaults.idOf(accountId, given);
    const prefix = path === undefined ? [vaultId] : [vaultId, checkPath(path).folded];
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const found: PendingConflict[] = [];
    for (const [, folded, id] of store.keys(pendingConflicts, prefix)) {
      if (after !== undefined && (folded < after.folded || (folded === after.folded && id <= after.id))) continue;
      if (found.length === limit) return { vaultId, conflicts: found, cursor: cursorOf(found.at(-1)) };
      found.push({ ...reader.conflict(vaultId, id), file: reader.file(vaultId, folded) });
    }
    return { vaultId, conflicts: found, cursor: undefined };
  }

  /** Both sides of a conflict. Throws Refusal `not_found` when the account has no such conflict. */
  sides(accountId: string, vaultId: string | undefined, conflictId: string): ConflictSides {
    return sidesOf(this.#options, this.#vaultOf(accountId, vaultId, conflictId), conflictId);
  }

  /**
   * Settles a conflict. Repeating the same decision returns the same result. Throws Refusal `not_found`,
   * `invalid_fields`, `quota_exceeded`, `storage_reserved`.
   */
  async resolve(accountId: string, request: ResolveRequest): Promise<Resolved> {
    const vaultId = this.#vaultOf(accountId, request.vaultId, request.conflictId);
    const { keep } = request;
    if (keep.side !== 'edited') return await this.#settle(accountId, vaultId, request, undefined);
    const { text, encoding } = keep;
    return await this.#options.contents.use(
      accountId,
      { sent: { text, encoding }, check: () => undefined },
      (content) => this.#settle(accountId, vaultId, request, content),
    );
  }

  /**
   * Settles all pending conflicts of a path; none is not an error. Returns the ids of the settled conflicts and the
   * newest version afterwards. Throws Refusal `invalid_fields` for `yours` with several conflicts, because only the
   * caller can choose one of them.
   */
  async resolvePath(accountId: string, request: PathRequest) {
    const { reader } = this.#options;
    const { path } = request;
    return await planOnce(
      ['settle path'],
      () => this.#pendingOf(accountId, request),
      async ({ vaultId, ids }) => {
        // Sides with the same bytes become one file.
        const copies = new Set<string>();
        let { baseSha } = request;
        for (const conflictId of ids) {
          const { copy, file } = await this.resolve(accountId, { ...request, baseSha, vaultId, conflictId });
          if (copy !== undefined) copies.add(copy);
          // What the first one made current is the base of the next.
          if (baseSha !== undefined) baseSha = liveFile(file)?.sha256 ?? '';
        }
        return { vaultId, settled: ids, copies: [...copies], file: reader.file(vaultId, checkPath(path).folded) };
      },
    );
  }

  async #pendingOf(accountId: string, { path, keep, vaultId: given }: PathRequest) {
    const query = { vaultId: given, path, limit: Infinity, cursor: undefined };
    const { vaultId, conflicts } = await this.pending(accountId, query);
    if (keep.side === 'yours' && conflicts.length > 1) {
      throw invalidField(
        'conflict_id',
        `${conflicts.length} conflicts of this path are pending; choose one with conflict_id`,
      );
    }
    const isFree = liveFile(this.#options.reader.file(vaultId, checkPath(path).folded)) === undefined;
    const hasDelete = conflicts.some(({ record }) => record.your_sha256 === null);
    // Before the first of them is settled.
    if (keep.side === 'both' && hasDelete && !(isFree && conflicts.length === 1)) throw oneVersion();
    return { vaultId, ids: conflicts.map(({ id }) => id) };
  }

  /**
   * Makes a settled conflict wait again, for a person who takes back a choice; a pending one stays as it is. The file keeps
   * its version. Throws Refusal `not_found`, `quota_exceeded`, `storage_reserved`.
   */
  async reopen(accountId: string, vaultId: string, conflictId: string): Promise<void> {
    const place = this.#vaultOf(accountId, vaultId, conflictId);
    await this.#options.log.write(accountId, place, ['reopened', conflictId], (turn) => {
      const conflict = turn.reader.conflict(place, conflictId);
      if (conflict.record.status === 'pending') return;
      checkRoom(this.#options.room, turn, conflict.record.size_bytes, 0);
      turn.change.reopen(checkPath(conflict.record.path).folded, conflict);
      turn.change.finish();
    });
  }

  async #settle(
    accountId: string,
    vaultId: string,
    request: ResolveRequest,
    edited: IncomingContent | undefined,
  ): Promise<Settled> {
    const name = ['settled', request.conflictId, request.keep.side, edited?.sha256] as const;
    let isDecided = false;
    const settled = await this.#options.log.write(accountId, vaultId, name, (turn): Settled => {
      isDecided = true;
      const { reader, change } = turn;
      const conflict = reader.conflict(vaultId, request.conflictId);
      const path = checkPath(conflict.record.path);
      const file = reader.file(vaultId, path.folded);
      if (conflict.record.status !== 'pending') {
        const copy = copyOf(reader, vaultId, conflict);
        if (!isRepeated(conflict, request.keep, copy)) throw alreadySettled(conflict);
        return { vaultId, conflict, file, copy, adopted: false };
      }
      if (!isBase(request.baseSha, file)) throw changedMeanwhile(file);
      if (request.keep.side === 'theirs') {
        change.settle(path.folded, conflict, 'dismissed', null);
        change.finish();
        return { vaultId, conflict: reread(conflict, 'dismissed'), file, adopted: false };
      }
      const choice = { conflict, file, edited, deviceId: request.deviceId ?? HUB_DEVICE };
      const live = liveFile(file);
      // The same bytes on both sides are one file.
      if (request.keep.side === 'both' && live !== undefined && live.sha256 !== conflict.record.your_sha256) {
        const copy = this.#writeCopy(turn, path, choice);
        change.finish();
        return { vaultId, conflict: reread(conflict, 'resolved'), file, copy, adopted: false };
      }
      const made = this.#write(turn, path, choice);
      change.finish();
      return { vaultId, conflict: reread(conflict, 'resolved'), ...made };
    });
    return isDecided ? settled : { ...settled, adopted: false };
  }

  /** Makes the refused content, or the edited one, the current version. */
  #write(turn: Turn, path: VaultPath, { conflict, file, edited, deviceId }: Choice) {
    const { change, batch, reader, vaultId } = turn;
    const content = edited ?? refusedContent(reader, vaultId, conflict);
    const live = liveFile(file);
    const isThere = content === undefined ? live === undefined : live?.sha256 === content.sha256;
    const seq = isThere ? (file?.seq ?? null) : change.head.seq + 1;
    change.settle(path.folded, conflict, 'resolved', seq);
    if (content !== undefined) settleSame(turn, path, { conflict, sha256: content.sha256, seq });
    if (isThere) return { file, adopted: false };
    if (edited !== undefined) this.#options.contents.adopt(batch, edited);
    else shareContent(batch, content);
    const status = content === undefined ? 'deleted' : live === undefined ? 'created' : 'updated';
    const { mtime, executable = live?.executable ?? false } = conflict.record;
    const made = { path, before: file, content, status, deviceId, mtime, executable } as const;
    const record = appendByHub(this.#options, turn, made);
    return { file: record, adopted: edited !== undefined };
  }

  /** Stores the refused content as a separate file. Returns its path. Throws Refusal `invalid_fields` for a delete. */
  #writeCopy(turn: Turn, path: VaultPath, { conflict, deviceId }: Choice): string {
    const { change, batch, reader, vaultId, nowMs } = turn;
    const content = refusedContent(reader, vaultId, conflict);
    if (content === undefined) throw oneVersion();
    const { mtime, executable = false, device_id: from } = conflict.record;
    const named = (attempt: number) => copyPath({ path: path.path, deviceId: from, nowMs, attempt });
    let copy = named(1);
    for (let attempt = 2; liveFile(reader.file(vaultId, copy.folded)) !== undefined; attempt += 1)
      copy = named(attempt);
    const seq = change.head.seq + 1;
    change.settle(path.folded, conflict, 'resolved', seq);
    settleSame(turn, path, { conflict, sha256: content.sha256, seq });
    shareContent(batch, content);
    const before = reader.file(vaultId, copy.folded);
    const made = { path: copy, before, content, status: 'created', deviceId, mtime, executable } as const;
    return appendByHub(this.#options, turn, made).path;
  }

  /** The vault with this conflict; without `given`, searches all vaults of the account. Throws Refusal `not_found`. */
  #vaultOf(accountId: string, given: string | undefined, conflictId: string): string {
    const { store, vaults, reader } = this.#options;
    if (given !== undefined) vaults.record(accountId, given);
    const places = given === undefined ? [...store.keys(vaultsTable, [accountId])].map(([, id]) => id) : [given];
    const place = places.find((id) => reader.hasConflict(id, conflictId));
    if (place !== undefined) return place;
    throw new Refusal({
      kind: 'not_found',
      what: 'this account has no conflict with this id; sync_pending_conflicts lists them',
    });
  }
}

/** The decision on a conflict, and the newest version of its path. */
interface Choice {
  readonly conflict: Conflict;
  readonly file: FileRecord | undefined;
  readonly edited: IncomingContent | undefined;
  readonly deviceId: string;
}

interface SettledWith {
  readonly conflict: Conflict;
  readonly sha256: string;
  readonly seq: number | null;
}

/** Settles the other conflicts of a path whose side has the same bytes. */
function settleSame({ change, reader, vaultId }: Turn, { folded }: VaultPath, settled: SettledWith): void {
  for (const other of reader.pendingOf(vaultId, folded)) {
    const isSame = other.record.your_sha256 === settled.sha256;
    if (other.id !== settled.conflict.id && isSame) change.settle(folded, other, 'resolved', settled.seq);
  }
}

/** The path of the file that `both` made of a settled conflict; undefined when it was settled otherwise. */
function copyOf(reader: SyncReader, vaultId: string, { record }: Conflict): string | undefined {
  const { status, settled_seq: seq, your_sha256: sha256 } = record;
  const made = status !== 'resolved' || seq === null ? undefined : reader.versionMeta(vaultId, seq);
  const isCopy = made?.status === 'created' && made.sha256 === sha256;
  return isCopy && checkPath(made.path).folded !== checkPath(record.path).folded ? made.path : undefined;
}

/** True when the decision repeats the one that settled the conflict, as after a lost answer. */
function isRepeated({ record }: Conflict, { side }: Resolution, copy: string | undefined): boolean {
  if (side === 'theirs') return record.status === 'dismissed';
  return record.status === 'resolved' && (side === 'both' || copy === undefined);
}

function oneVersion(): Refusal {
  return invalidField('keep', 'the refused change deletes the file, so there is one version to keep; choose a side');
}

function alreadySettled({ record }: Conflict): Refusal {
  return invalidField(
    'conflict_id',
    `this conflict was ${record.status} at ${record.settled_at ?? ''}; push the content that you want with sync_push`,
  );
}

function changedMeanwhile(file: FileRecord | undefined): Refusal {
  const now = file === undefined || file.deleted ? 'deleted' : file.sha256;
  return invalidField(
    'base_sha',
    `base_sha is not the current version: the file is ${now} now; compare both versions again`,
  );
}

function reread({ id, record }: Conflict, status: 'dismissed' | 'resolved'): Conflict {
  return { id, record: { ...record, status } };
}

function cursorOf(last: PendingConflict | undefined): string | undefined {
  if (last === undefined) return undefined;
  return Buffer.from(JSON.stringify([checkPath(last.record.path).folded, last.id])).toString('base64url');
}

function readCursor(cursor: string): { readonly folded: string; readonly id: string } {
  try {
    const [folded, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    if (typeof folded === 'string' && typeof id === 'string') return { folded, id };
  } catch {
    // An unreadable cursor is rejected below, like one with unexpected contents.
  }
  throw invalidField('cursor', 'cursor must come from an earlier answer of this tool; omit it for the first page');
}
