/**
 * Lists one folder of a vault page by page: its subfolders first, then its files. A subfolder costs two reads, however
 * much it contains: the walk seeks past its contents. So a page reads about as many rows as it returns.
 */
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import type { Table } from '../../store/table.ts';
import type { FileRecord } from '../log/file-record.ts';
import { AFTER_PATHS } from '../log/paths.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import { files, folders } from '../log/records.ts';
import { type FolderSum, sumFolders } from './folder-sums.ts';

export interface FolderRequest {
  /** Folded, without a trailing slash; empty for the root of the vault. */
  readonly folder: string;
  /** `next` of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface Subfolder {
  /** In the spelling of its files. */
  readonly path: string;
  /** Number of live files and folders directly in it. */
  readonly children: number;
}

export interface FolderPage {
  readonly folders: readonly Subfolder[];
  readonly files: readonly FileRecord[];
  /** Start of the next page; undefined for the last page. */
  readonly next: string | undefined;
  /** Rows read by the walk. */
  readonly rowsRead: number;
}

interface FolderRecord {
  readonly children: number;
}

interface Row<V> {
  readonly folded: string;
  readonly value: V;
}

interface Run<V> {
  readonly direct: readonly Row<V>[];
  /** Rows read. */
  readonly read: number;
  readonly next: string | undefined;
}

/** One of the two passes of a list. */
interface Walk<V> {
  readonly table: Table<[string, string], V>;
  readonly name: 'folders' | 'files';
  readonly isShown: (value: V) => boolean;
  readonly take: (row: Row<V>) => void;
}

const PLACE = /^(folders|files):(.*)$/s;

export class Folders {
  readonly #store: Store;
  readonly #reader: SyncReader;

  constructor(store: Store, reader: SyncReader) {
    this.#store = store;
    this.#reader = reader;
  }

  /** Returns a page of a folder, empty for an unknown one. Reads a bounded number of rows, so a page can end early. */
  async list(vault: VaultOf, { folder, after, limit }: FolderRequest): Promise<FolderPage> {
    const [, pass = 'folders', place = ''] = PLACE.exec(after ?? '') ?? [];
    const page = { folders: [] as Subfolder[], files: [] as FileRecord[], rowsRead: 0 };
    const takeFolder = (row: Row<FolderRecord>) => {
      page.folders.push({ path: this.#spelled(vault.vaultId, row.folded), children: row.value.children });
    };
    const takeFile = ({ value }: Row<FileRecord>) => void page.files.push(value);
    const walk = async <V>({ table, name, isShown, take }: Walk<V>, from: string) => {
      let last = from;
      for await (const { folded, value } of this.#children(vault, { table, folder, from }, page)) {
        const row = value !== undefined && isShown(value) ? { folded, value } : undefined;
        const isFull = row !== undefined && page.folders.length + page.files.length === limit;
        if (isFull || page.rowsRead >= limits.folderScanMax) return `${name}:${last}`;
        last = folded;
        if (row !== undefined) take(row);
      }
      return undefined;
    };
    const subfolders: Walk<FolderRecord> = { table: folders, name: 'folders', isShown: () => true, take: takeFolder };
    const own: Walk<FileRecord> = { table: files, name: 'files', isShown: ({ deleted }) => !deleted, take: takeFile };
    let next = pass === 'files' ? undefined : await walk(subfolders, place);
    next ??= await walk(own, pass === 'files' ? place : '');
    return { ...page, next };
  }

  /** Bytes and newest changes of subfolders of a page, by path. */
  async sums(vault: VaultOf, subfolders: readonly Subfolder[]): Promise<ReadonlyMap<string, FolderSum>> {
    const paths = subfolders.map(({ path }) => path);
    return await sumFolders({ store: this.#store, reader: this.#reader }, vault, paths);
  }

  /** Yields the rows directly in a folder, in order. Seeks past each subtree and yields its end without a value. */
  async *#children<V>(
    { accountId, vaultId }: VaultOf,
    {
      table,
      folder,
      from,
    }: { readonly table: Table<[string, string], V>; readonly folder: string; readonly from: string },
    counted: { rowsRead: number },
  ): AsyncGenerator<{ readonly folded: string; readonly value: V | undefined }> {
    const prefix = folder === '' ? '' : `${folder}/`;
    let beyond: string | undefined = from === '' ? prefix : from;
    while (beyond !== undefined) {
      const rows: Run<V> = this.#run(table, vaultId, prefix, beyond);
      counted.rowsRead += rows.read;
      for (const row of rows.direct) yield row;
      beyond = rows.next;
      // A skipped subtree, or the end of a turn: the caller can end its page here.
      if (beyond !== undefined) yield { folded: beyond, value: undefined };
      if (turns.isOver) await turns.next(accountId);
    }
  }

  /** Reads rows in order up to the first nested one, or one turn's worth. `next`: where to continue; else undefined. */
  #run<V>(table: Table<[string, string], V>, vaultId: string, prefix: string, beyond: string): Run<V> {
    const direct: Row<V>[] = [];
    const from = beyond === '' ? {} : { beyond };
    for (const { key, value } of this.#store.entries(table, { prefix: [vaultId], ...from })) {
      const folded = key[1];
      const read = direct.length + 1;
      if (!folded.startsWith(prefix)) return { direct, read, next: undefined };
      const slash = folded.indexOf('/', prefix.length);
      if (slash >= 0) return { direct, read, next: folded.slice(0, slash + 1) + AFTER_PATHS };
      direct.push({ folded, value });
      if (direct.length === limits.listTurnRows) return { direct, read, next: folded };
    }
    return { direct, read: direct.length, next: undefined };
  }

  /** Returns a folder in the spelling of its first file. */
  #spelled(vaultId: string, folded: string): string {
    const [row] = this.#store.range(files, { prefix: [vaultId], beyond: `${folded}/`, limit: 1 });
    if (row === undefined || !row.key[1].startsWith(`${folded}/`)) return folded;
    return row.value.path.split('/', folded.split('/').length).join('/');
  }

  /** True for the root, and for a folder with anything live in it. */
  has(vaultId: string, folder: string): boolean {
    return folder === '' || this.#reader.childrenOf(vaultId, folder) > 0;
  }
}
