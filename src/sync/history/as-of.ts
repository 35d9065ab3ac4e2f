/**
 * Restores a folder of a vault to a point in time: deletes files created later, and restores files changed or deleted
 * since. Each is a new change, so nothing is lost and the same call can go forward again. Deletions come first, because
 * a restored file may have the path of a folder that exists now.
 */
import { type Attempt, attempt } from '../../common/attempt.ts';
import { explain } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import { files } from '../log/records.ts';
import type { Vaults } from '../vaults/vaults.ts';
import { type History, isSameVersion, isSpelledSo } from './history.ts';

export interface AsOfOptions {
  readonly store: Store;
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly history: History;
}

export interface AsOfRequest {
  readonly vaultId: string | undefined;
  /** Empty: the whole vault. */
  readonly folder: string;
  readonly atMs: number;
  readonly isDry: boolean;
  readonly deviceId: string | undefined;
  /** `next` of an earlier page. */
  readonly after: Place | undefined;
}

/** A folded path, in the pass of deletions or in the pass of restorations. */
export interface Place {
  readonly pass: 'delete' | 'restore';
  readonly folded: string;
}

export interface AsOfPage {
  readonly vaultId: string;
  readonly restored: readonly string[];
  readonly deleted: readonly string[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Undefined on the last page. */
  readonly next: Place | undefined;
}

/**
 * State of a file at that time: a version, or null for no file. Undefined when the versions from then are no longer
 * kept.
 */
export type Past = { readonly seq: number | null } | undefined;

export class AsOf {
  readonly #options: AsOfOptions;

  constructor(options: AsOfOptions) {
    this.#options = options;
  }

  /**
   * Makes a bounded number of changes; continue with `next`. Throws Refusal `invalid_fields` when the vault is unknown.
   */
  async restore(accountId: string, request: AsOfRequest): Promise<AsOfPage> {
    const vaultId = await this.#options.vaults.idOf(accountId, request.vaultId);
    const made = {
      vaultId,
      restored: [] as string[],
      deleted: [] as string[],
      skipped: [] as AsOfPage['skipped'][number][],
    };
    let place: Place = request.after ?? { pass: 'delete', folded: '' };
    for (let looked = 0; looked < limits.asOfFilesMax; ) {
      const rows = this.#rowsAfter(vaultId, request.folder, place.folded);
      for (const { key, value: file } of rows) {
        place = { pass: place.pass, folded: key[1] };
        looked += 1;
        if (turns.isOver) await turns.next(accountId);
        const past =
          file.stored_ms > request.atMs
            ? await pastOf(this.#options.reader, { accountId, vaultId }, file, request.atMs)
            : 'as it is';
        if (past === 'as it is') continue;
        await this.#change(accountId, vaultId, { request, file, past, pass: place.pass }, made);
        if (made.restored.length + made.deleted.length >= limits.asOfChangesMax) return { ...made, next: place };
      }
      if (rows.length < limits.listTurnRows) {
        if (place.pass === 'restore') return { ...made, next: undefined };
        place = { pass: 'restore', folded: '' };
      }
    }
    return { ...made, next: place };
  }

  #rowsAfter(vaultId: string, folder: string, folded: string) {
    const prefix = folder === '' ? '' : `${foldCase(folder)}/`;
    const beyond = folded === '' ? prefix : folded;
    const from = beyond === '' ? {} : { beyond };
    const rows = this.#options.store.range(files, { prefix: [vaultId], limit: limits.listTurnRows, ...from });
    const end = rows.findIndex(({ key }) => !key[1].startsWith(prefix));
    return end < 0 ? rows : rows.slice(0, end);
  }

  async #change(
    accountId: string,
    vaultId: string,
    { request, file, past, pass }: { request: AsOfRequest; file: FileRecord; past: Past; pass: Place['pass'] },
    made: { restored: string[]; deleted: string[]; skipped: AsOfPage['skipped'][number][] },
  ): Promise<void> {
    const { path } = file;
    if (past === undefined) {
      if (pass === 'restore') made.skipped.push({ path, reason: 'its versions from that time are no longer kept' });
      return;
    }
    const isDelete = past.seq === null;
    if ((pass === 'delete') !== isDelete || (isDelete && file.deleted)) return;
    const { deviceId, isDry } = request;
    const base = { path, vaultId, baseSha: file.deleted ? '' : file.sha256, deviceId };
    const { history } = this.#options;
    const done: Attempt<string> = await attempt(async () => {
      if (past.seq === null) return isDry ? 'deleted' : (await history.remove(accountId, base)).status;
      if (!isDry) return (await history.restore(accountId, { ...base, seq: past.seq, respells: true })).status;
      const then = this.#options.reader.versionMeta(vaultId, past.seq);
      return then !== undefined && isSameVersion(file, then) && isSpelledSo(file, then) ? 'unchanged' : 'restored';
    });
    if (!done.ok) made.skipped.push({ path, reason: explain(done.fault) });
    else if (isDelete) made.deleted.push(path);
    else if (done.value !== 'unchanged') made.restored.push(path);
  }
}

/** Goes back through the versions of a file. A busy path has very many, so others have their turn in between. */
export async function pastOf(
  reader: SyncReader,
  { accountId, vaultId }: VaultOf,
  file: FileRecord,
  atMs: number,
): Promise<Past> {
  let oldest = file.seq;
  for (const link of reader.chain(vaultId, file.seq)) {
    oldest = link.previousSeq;
    if (link.storedMs <= atMs) return { seq: link.deleted ? null : link.seq };
    if (turns.isOver) await turns.next(accountId);
  }
  return oldest === 0 ? { seq: null } : undefined;
}
