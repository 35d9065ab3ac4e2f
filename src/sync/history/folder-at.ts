/**
 * Lists one folder of a vault as it was at a point in time, page by page. A subfolder is read up to the first file that
 * it had then; the rest of it is skipped.
 */
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import type { FileRecord } from '../log/file-record.ts';
import { AFTER_PATHS } from '../log/paths.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import { files } from '../log/records.ts';
import type { VersionMeta } from '../log/version.ts';
import { pastOf } from './as-of.ts';

export interface FolderAtRequest {
  /** Folded, without a trailing slash; empty for the root of the vault. */
  readonly folder: string;
  readonly atMs: number;
  /** `next` of the previous page. */
  readonly after: string | undefined;
}

export interface FolderAtPage {
  /** Paths of subfolders, in the spelling of a file in them. */
  readonly folders: readonly string[];
  readonly files: readonly VersionMeta[];
  /** Files left out because their versions from then are no longer kept. */
  readonly unknown: number;
  /** Start of the next page; undefined for the last page. */
  readonly next: string | undefined;
}

export class FolderAt {
  readonly #store: Store;
  readonly #reader: SyncReader;

  constructor(store: Store, reader: SyncReader) {
    this.#store = store;
    this.#reader = reader;
  }

  /** Reads a bounded number of rows, so a page can end early. A folder that did not exist is empty. */
  async list({ accountId, vaultId }: VaultOf, { folder, atMs, after }: FolderAtRequest): Promise<FolderAtPage> {
    const prefix = folder === '' ? '' : `${folder}/`;
    const page = { folders: [] as string[], files: [] as VersionMeta[], unknown: 0 };
    let beyond: string = after ?? prefix;
    for (let looked = 0; ; looked += 1) {
      const isFull = page.folders.length + page.files.length === limits.fileRowsPerPage;
      if (isFull || looked === limits.folderScanMax) return { ...page, next: beyond };
      const row = this.#rowAfter(vaultId, prefix, beyond);
      if (row === undefined) return { ...page, next: undefined };
      beyond = row.folded;
      const past = await pastOf(this.#reader, { accountId, vaultId }, row.file, atMs);
      if (turns.isOver) await turns.next(accountId);
      if (past === undefined) page.unknown += 1;
      if (past === undefined || past.seq === null) continue;
      const meta = this.#reader.versionMeta(vaultId, past.seq);
      const slash = row.folded.indexOf('/', prefix.length);
      if (meta === undefined) continue;
      if (slash < 0) {
        page.files.push(meta);
        continue;
      }
      const depth = row.folded.slice(0, slash).split('/').length;
      page.folders.push(meta.path.split('/', depth).join('/'));
      beyond = row.folded.slice(0, slash + 1) + AFTER_PATHS;
    }
  }

  #rowAfter(
    vaultId: string,
    prefix: string,
    beyond: string,
  ): { readonly folded: string; readonly file: FileRecord } | undefined {
    const from = beyond === '' ? {} : { beyond };
    const [row] = this.#store.range(files, { prefix: [vaultId], limit: 1, ...from });
    return row?.key[1].startsWith(prefix) ? { folded: row.key[1], file: row.value } : undefined;
  }
}
