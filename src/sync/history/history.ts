/** The use cases of history: the versions of a path that are kept, and bringing one of them back as a new change. */
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Store } from '../../store/store.ts';
import { PieceShares } from '../contents/piece-shares.ts';
import type { ReadyContent } from '../log/change.ts';
import type { FileRecord } from '../log/file-record.ts';
import { checkPath } from '../log/paths.ts';
import type { ChainLink, SyncReader } from '../log/reader.ts';
import { versions } from '../log/records.ts';
import type { VaultLog } from '../log/vault-log.ts';
import {
  readVersionHead,
  readVersionMeta,
  storedContentOf,
  type VersionMeta,
  versionGitSha,
  versionSha256,
} from '../log/version.ts';
import { appendByHub, HUB_DEVICE, isBase } from '../push/hub-change.ts';
import type { Vaults } from '../vaults/vaults.ts';

export interface HistoryOptions {
  readonly store: Store;
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly log: VaultLog;
  readonly quotaBytes: number;
}

export interface HistoryQuery {
  readonly path: string;
  readonly vaultId: string | undefined;
  readonly limit: number;
  /** Only versions older than this one of the path. */
  readonly before: number | undefined;
}

export interface HistoryPage {
  readonly vaultId: string;
  readonly path: string;
  /** Newest first. */
  readonly versions: readonly VersionMeta[];
  readonly hasMore: boolean;
}

export interface RestoreRequest {
  readonly path: string;
  readonly seq: number;
  readonly vaultId: string | undefined;
  readonly baseSha: string | undefined;
  readonly deviceId: string | undefined;
}

export interface Restored {
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

  /** The kept versions of a path, newest first. Refuses with `path_not_found`. */
  async list(accountId: string, { path, vaultId: given, limit, before }: HistoryQuery): Promise<HistoryPage> {
    const { vaults, reader } = this.#options;
    const { folded, path: shown } = checkPath(path);
    const vaultId = await vaults.idOf(accountId, given);
    const file = reader.file(vaultId, folded);
    if (file === undefined) throw new Refusal({ kind: 'path_not_found', path: shown, deletedAt: null });
    const start = before === undefined ? file.seq : this.#olderThan(vaultId, folded, before);
    const found: VersionMeta[] = [];
    let hasMore = false;
    for (const { seq } of reader.chain(vaultId, start)) {
      if (found.length === limit) {
        hasMore = true;
        break;
      }
      const meta = reader.versionMeta(vaultId, seq);
      if (meta !== undefined) found.push(meta);
    }
    return { vaultId, path: file.path, versions: found, hasMore };
  }

  /** Makes an older version the current one, as a new change. Refuses with `path_not_found`, `invalid_fields`. */
  async restore(accountId: string, request: RestoreRequest): Promise<Restored> {
    const { vaults, reader, log } = this.#options;
    const path = checkPath(request.path);
    const vaultId = await vaults.idOf(accountId, request.vaultId);
    return await log.write(accountId, vaultId, (turn): Restored => {
      const file = reader.file(vaultId, path.folded);
      if (file === undefined) throw new Refusal({ kind: 'path_not_found', path: path.path, deletedAt: null });
      if (!isBase(request.baseSha, file)) throw staleBase(file);
      const { content, meta } = this.#versionOf(vaultId, path.folded, request.seq);
      if (!file.deleted && file.sha256 === content.sha256) {
        return { vaultId, status: 'unchanged', record: file, previousHlc: file.hlc, warnings: [] };
      }
      if (content.stored.kind === 'pieces') {
        new PieceShares(turn.batch, this.#options.store).share(content.stored.storageId);
      }
      const record = appendByHub(this.#options, turn, {
        path: { path: meta.path, folded: path.folded },
        before: file,
        content,
        status: 'restored',
        deviceId: request.deviceId ?? HUB_DEVICE,
        mtime: meta.remote_mtime,
      });
      turn.change.finish();
      return { vaultId, status: 'restored', record, previousHlc: file.hlc, warnings: [] };
    });
  }

  #olderThan(vaultId: string, folded: string, seq: number): number {
    const link = this.#linkOf(vaultId, folded, seq);
    if (link === undefined) throw invalidField('before', `before names no kept version of this path`);
    return link.previousSeq;
  }

  /** A version, if it is one of this path. */
  #linkOf(vaultId: string, folded: string, seq: number): ChainLink | undefined {
    const { reader } = this.#options;
    const meta = reader.versionMeta(vaultId, seq);
    if (meta === undefined || checkPath(meta.path).folded !== folded) return undefined;
    for (const link of reader.chain(vaultId, seq)) return link;
    return undefined;
  }

  /** The content of a kept version of a path, ready to be stored again. */
  #versionOf(vaultId: string, folded: string, seq: number): { content: ReadyContent; meta: VersionMeta } {
    const bytes = this.#options.store.get(versions, [vaultId, seq]);
    const meta = bytes && readVersionMeta(bytes);
    if (bytes === undefined || meta === undefined || checkPath(meta.path).folded !== folded) {
      throw invalidField('seq', `seq ${seq} is no kept version of this path; sync_history lists them`);
    }
    const stored = storedContentOf(bytes);
    if (stored === undefined) throw invalidField('seq', `seq ${seq} is where the file was deleted; name an older one`);
    const { encoding, sizeBytes } = readVersionHead(bytes);
    return {
      meta,
      content: { sha256: versionSha256(bytes), gitSha: versionGitSha(bytes), sizeBytes, encoding, stored },
    };
  }
}

/** The file has changed since the caller looked at it; nothing was sent that would have to be kept. */
function staleBase(file: FileRecord): Refusal {
  const now = file.deleted ? 'deleted' : file.sha256;
  return invalidField('base_sha', `base_sha is not what is current: the file is ${now} now; look again, then repeat`);
}
