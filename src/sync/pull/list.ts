/**
 * Lists the files of a vault: metadata in path order, page by page. A call looks at a bounded number of files, in short
 * turns, so that a filter with few matches does not block other work.
 */

import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import { files } from '../log/records.ts';
import { listFilter } from './list-filter.ts';

export interface FileListRequest {
  readonly prefix: string | undefined;
  readonly glob: string | undefined;
  readonly includeDeleted: boolean;
  readonly limit: number;
  /** Only paths after this folded path. */
  readonly after: string | undefined;
}

interface Total {
  readonly files: number;
  readonly bytes: number;
}

export interface ListedFile {
  /** The folded path, used for comparison. */
  readonly folded: string;
  readonly file: FileRecord;
}

export interface FileListPage {
  readonly files: readonly ListedFile[];
  /** Number of matching current files and their content bytes; undefined when this call did not look at all of them. */
  readonly total: Total | undefined;
  /** The folded path after which the next page begins; undefined for the last page. */
  readonly next: string | undefined;
}

/** Rows read in one turn. */
interface Run {
  readonly found: readonly ListedFile[];
  readonly next: string | undefined;
}

export class FileLists {
  readonly #store: Store;
  readonly #reader: SyncReader;

  constructor(store: Store, reader: SyncReader) {
    this.#store = store;
    this.#reader = reader;
  }

  async list({ accountId, vaultId }: VaultOf, request: FileListRequest): Promise<FileListPage> {
    const { limit, includeDeleted, after } = request;
    const work = { chars: 0 };
    const passes = listFilter(request.glob, work);
    const { files: allFiles, bytes: allBytes } = this.#reader.head(vaultId);
    const isFiltered = request.prefix !== undefined || request.glob !== undefined;
    // Only the first page of a filter can count its totals.
    const counts = isFiltered && after === undefined;
    const found: ListedFile[] = [];
    const counted = { files: 0, bytes: 0 };
    let [looked, place, more, stopped] = [0, '', false, false];
    for await (const { folded, file } of this.walk({ accountId, vaultId }, foldCase(request.prefix ?? ''), after)) {
      stopped = looked === limits.listScanMax || work.chars > limits.globWorkChars;
      if (stopped) break;
      looked += 1;
      const isMatch = (includeDeleted || !file.deleted) && passes(folded);
      if (isMatch && counts && !file.deleted) {
        counted.files += 1;
        counted.bytes += file.size_bytes;
      }
      if (found.length < limit) {
        place = folded;
        if (isMatch) found.push({ folded, file });
      } else if (isMatch) {
        more = true;
        if (!counts) break;
      }
    }
    const all = isFiltered ? undefined : { files: allFiles, bytes: allBytes };
    return { files: found, total: counts && !stopped ? counted : all, next: more || stopped ? place : undefined };
  }

  /** Yields the files and tombstones with a folded prefix, in path order, in turns of the account. */
  async *walk({ accountId, vaultId }: VaultOf, prefix: string, after?: string): AsyncGenerator<ListedFile> {
    const exact = after === undefined && prefix !== '' ? this.#reader.file(vaultId, prefix) : undefined;
    if (exact !== undefined) yield { folded: prefix, file: exact };
    let beyond: string | undefined = after ?? prefix;
    while (beyond !== undefined) {
      if (turns.isOver) await turns.next(accountId);
      const { found, next } = this.#turnOf(vaultId, prefix, beyond);
      for (const row of found) {
        if (turns.isOver) await turns.next(accountId);
        yield row;
      }
      beyond = next;
    }
  }

  /** Reads the next few rows, fewer when the turn ends. `next`: where to continue; undefined at the end. */
  #turnOf(vaultId: string, prefix: string, beyond: string): Run {
    const found: ListedFile[] = [];
    for (const { key, value } of this.#store.entries(files, { prefix: [vaultId], beyond })) {
      if (!key[1].startsWith(prefix)) return { found, next: undefined };
      found.push({ folded: key[1], file: value });
      if (found.length === limits.listTurnRows || turns.isOver) return { found, next: key[1] };
    }
    return { found, next: undefined };
  }
}
