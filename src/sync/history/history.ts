/** Lists the kept versions of a path, restores one of them, and deletes a file, each as a new change. */

import { invalidField, Refusal } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import { foldCase } from '../../text/fold-case.ts';
import { shareContent } from '../contents/piece-shares.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { FileRoom } from '../log/file-room.ts';
import { checkPath } from '../log/paths.ts';
import type { Conflict, SyncReader } from '../log/reader.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { refusedContent } from '../log/refused-content.ts';
import type { Turn, VaultLog } from '../log/vault-log.ts';
import type { VersionMeta } from '../log/version.ts';
import { appendByHub, HUB_DEVICE, isBase } from '../push/hub-change.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { isInLineage, lineage } from './lineage.ts';
import { isNotChosen } from './not-chosen.ts';

export interface HistoryOptions {
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly log: VaultLog;
  readonly room: FileRoom;
}

export interface HistoryQuery {
  readonly path: string;
  readonly vaultId: string | undefined;
  readonly limit: number;
  /** Only versions older than this sequence number. */
  readonly before: number | undefined;
}

export interface HistoryPage {
  readonly vaultId: string;
  readonly path: string;
  /** Newest first. */
  readonly versions: readonly VersionMeta[];
  readonly hasMore: boolean;
  /** Sides of settled conflicts that became no version, newest first; only on the first page. */
  readonly notChosen: readonly Conflict[];
}

export interface RestoreRequest {
  readonly path: string;
  /** The number of a kept version, or the id of a settled conflict, whose side becomes a version. */
  readonly seq: number | { readonly conflictId: string };
  readonly vaultId: string | undefined;
  readonly baseSha: string | undefined;
  readonly deviceId: string | undefined;
  /** Also restores the spelling that the path had in that version. */
  readonly respells?: boolean;
}

export interface RestoredVersion {
  readonly vaultId: string;
  readonly status: 'restored' | 'unchanged';
  readonly record: FileRecord;
  readonly previousHlc: string;
  readonly warnings: readonly string[];
}

export class History {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /**
   * The kept versions of a file, newest first, also under its former names. Throws Refusal `path_not_found` when the
   * path never had a file, and `invalid_fields` when `before` is not a kept version of it.
   */
  async list(accountId: string, { path, vaultId: given, limit, before }: HistoryQuery): Promise<HistoryPage> {
    const { vaults, reader } = this.#options;
    const { folded, path: shown } = checkPath(path);
    const vaultId = await vaults.idOf(accountId, given);
    const file = reader.file(vaultId, folded);
    if (file === undefined) throw new Refusal({ kind: 'path_not_found', path: shown, deletedAt: null });
    const found: VersionMeta[] = [];
    let hasMore = false;
    if (before !== undefined && !isInLineage(reader, vaultId, file, before)) {
      throw invalidField('before', 'before is not the seq of a kept version of this path');
    }
    for (const seq of lineage(reader, vaultId, file.seq)) {
      if (before !== undefined && seq >= before) continue;
      hasMore = found.length === limit;
      if (hasMore) break;
      const meta = reader.versionMeta(vaultId, seq);
      if (meta !== undefined) found.push(meta);
    }
    const notChosen = before === undefined ? await this.#notChosen(accountId, vaultId, folded, limit) : [];
    return { vaultId, path: file.path, versions: found, hasMore, notChosen };
  }

  /** Reads all kept conflicts of the vault: retention removes settled ones after 30 days. */
  async #notChosen(accountId: string, vaultId: string, folded: string, limit: number): Promise<Conflict[]> {
    const { reader } = this.#options;
    const found: Conflict[] = [];
    let rows: readonly Conflict[];
    let beyond: string | undefined;
    do {
      rows = reader.conflictsBeyond(vaultId, beyond);
      beyond = rows.at(-1)?.id;
      for (const conflict of rows) {
        const { path, settled_seq: seq } = conflict.record;
        const became = seq === null ? undefined : reader.versionMeta(vaultId, seq)?.sha256;
        if (foldCase(path) === folded && isNotChosen(conflict.record, became)) found.push(conflict);
      }
      if (turns.isOver) await turns.next(accountId);
    } while (rows.length > 0);
    return found.sort((a, b) => (a.record.detected_at < b.record.detected_at ? 1 : -1)).slice(0, limit);
  }

  /**
   * The kept versions of a file under all its names, newest first, with the numbers that people see: 1 is the oldest
   * kept.
   */
  async numbersOf(accountId: string, vaultId: string, file: FileRecord): Promise<ReadonlyMap<number, number>> {
    const seqs: number[] = [];
    for (const seq of lineage(this.#options.reader, vaultId, file.seq)) {
      seqs.push(seq);
      if (turns.isOver) await turns.next(accountId);
    }
    return new Map(seqs.map((seq, index) => [seq, seqs.length - index]));
  }

  /** True when a kept version belongs to the history of a file, under any of its names. */
  has(vaultId: string, file: FileRecord, seq: number): boolean {
    return isInLineage(this.#options.reader, vaultId, file, seq);
  }

  /**
   * Restores an older version as a new change. Throws Refusal `path_not_found`, `invalid_fields`, `quota_exceeded`,
   * `storage_reserved`.
   */
  async restore(accountId: string, request: RestoreRequest): Promise<RestoredVersion> {
    const { vaults, log } = this.#options;
    const path = checkPath(request.path);
    const vaultId = await vaults.idOf(accountId, request.vaultId);
    const name = ['restored', path.folded, request.seq, request.baseSha] as const;
    return await log.write(accountId, vaultId, name, (turn): RestoredVersion => {
      const file = turn.reader.file(vaultId, path.folded);
      if (file === undefined) throw new Refusal({ kind: 'path_not_found', path: path.path, deletedAt: null });
      if (!isBase(request.baseSha, file)) throw staleBase(file);
      const { content, meta } = sourceOf(turn, vaultId, file, request.seq);
      const executable = meta.executable === true;
      const { respells = false } = request;
      if (isSameVersion(file, meta) && (!respells || isSpelledSo(file, meta))) {
        return { vaultId, status: 'unchanged', record: file, previousHlc: file.hlc, warnings: [] };
      }
      shareContent(turn.batch, content);
      const record = appendByHub(this.#options, turn, {
        // The spelling of that version, unless the file had another path then.
        path: foldCase(meta.path) === path.folded ? { path: meta.path, folded: path.folded } : path,
        before: file,
        content,
        status: 'restored',
        deviceId: request.deviceId ?? HUB_DEVICE,
        mtime: meta.remote_mtime,
        executable,
        respells,
      });
      turn.change.finish();
      return { vaultId, status: 'restored', record, previousHlc: file.hlc, warnings: [] };
    });
  }

  /**
   * Deletes a file as a new change by the hub. Throws Refusal `path_not_found`, and `invalid_fields` when `baseSha` is
   * not current.
   */
  async remove(accountId: string, request: Omit<RestoreRequest, 'seq'>): Promise<{ readonly status: 'deleted' }> {
    const { vaults, log } = this.#options;
    const path = checkPath(request.path);
    const vaultId = await vaults.idOf(accountId, request.vaultId);
    return await log.write(accountId, vaultId, ['removed', path.folded, request.baseSha], (turn) => {
      const file = turn.reader.file(vaultId, path.folded);
      if (file === undefined) throw new Refusal({ kind: 'path_not_found', path: path.path, deletedAt: null });
      if (!isBase(request.baseSha, file)) throw staleBase(file);
      const deviceId = request.deviceId ?? HUB_DEVICE;
      const gone = { content: undefined, status: 'deleted', mtime: null, executable: false } as const;
      appendByHub(this.#options, turn, { path, before: file, deviceId, ...gone });
      turn.change.finish();
      return { status: 'deleted' };
    });
  }
}

/** True when a file has the bytes and the executable bit of a version. */
export function isSameVersion(file: FileRecord, { sha256, executable }: Source['meta']): boolean {
  return !file.deleted && file.sha256 === sha256 && file.executable === (executable === true);
}

/** True when a file has the spelling of a version, or when the version has another path. */
export function isSpelledSo({ path }: FileRecord, version: Pick<VersionMeta, 'path'>): boolean {
  return path === version.path || foldCase(path) !== foldCase(version.path);
}

/** What a restore stores again, and under which name and look. */
interface Source {
  readonly content: ReadyContent;
  readonly meta: Pick<VersionMeta, 'path' | 'sha256' | 'executable' | 'remote_mtime'>;
}

function sourceOf({ reader }: Turn, vaultId: string, file: FileRecord, wanted: RestoreRequest['seq']): Source {
  return typeof wanted === 'number'
    ? versionOf(reader, vaultId, file, wanted)
    : sideOf(reader, vaultId, file, wanted.conflictId);
}

/** The side of a settled conflict of a file. Throws Refusal `invalid_fields` when there is none with this id. */
function sideOf(reader: SyncReader, vaultId: string, file: FileRecord, conflictId: string): Source {
  const conflict = reader.hasConflict(vaultId, conflictId) ? reader.conflict(vaultId, conflictId) : undefined;
  const isHere = conflict !== undefined && foldCase(conflict.record.path) === foldCase(file.path);
  if (!isHere || conflict.record.status === 'pending') {
    throw invalidField('conflict_id', 'this is not a settled conflict of this path; sync_history lists them');
  }
  const content = refusedContent(reader, vaultId, conflict);
  if (content === undefined)
    throw invalidField('conflict_id', 'the side of this conflict is a delete; delete the file');
  const { path, mtime, executable } = conflict.record;
  const look = executable === true ? { executable } : {};
  return { content, meta: { path, sha256: content.sha256, remote_mtime: mtime, ...look } };
}

/**
 * The content of a kept version of a file, ready to be stored again. Throws Refusal `invalid_fields` when `seq` is a
 * tombstone or not a kept version.
 */
function versionOf(reader: SyncReader, vaultId: string, file: FileRecord, seq: number): Source {
  const meta = isInLineage(reader, vaultId, file, seq) ? reader.versionMeta(vaultId, seq) : undefined;
  if (meta === undefined)
    throw invalidField('seq', `seq ${seq} is not an available version of this path; sync_history lists them`);
  const content = reader.readyContent(vaultId, seq);
  if (content === undefined)
    throw invalidField('seq', `seq ${seq} is where the file was deleted; name an older version`);
  return { meta, content };
}

/** Rejects a change because the file changed since the caller read it. No content was sent, so nothing is kept. */
function staleBase(file: FileRecord): Refusal {
  const now = file.deleted ? 'deleted' : file.sha256;
  return invalidField('base_sha', `base_sha is not the current version: the file is ${now} now; check it, then repeat`);
}
