/**
 * Restores a folder of a vault to a point in time: deletes files created later, and restores files changed or deleted
 * since. Each is a new change, so nothing is lost and the same call can go forward again. Deletions come first, because
 * a restored file may have the path of a folder that exists now.
 */
import { planOnce } from '../../actors/once/calls.ts';
import { attempt } from '../../common/attempt.ts';
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
  /** Told after each change of this page. */
  readonly progress?: ((done: number, total: number, what: string) => void) | undefined;
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

/** One change that a restore makes: the version that comes back; null: the file is deleted. */
interface AsOfChange {
  readonly path: string;
  readonly baseSha: string;
  readonly seq: number | null;
}

type Skipped = AsOfPage['skipped'][number];

interface Chosen extends Pick<AsOfPage, 'skipped' | 'next'> {
  readonly changes: readonly AsOfChange[];
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
   * The changes are chosen first: a repeat of a request with an idempotency key makes the same ones.
   */
  async restore(accountId: string, request: AsOfRequest): Promise<AsOfPage> {
    const vaultId = await this.#options.vaults.idOf(accountId, request.vaultId);
    return await planOnce(
      ['as of', vaultId, request.after],
      () => this.#choose(accountId, vaultId, request),
      async ({ changes, skipped, next }) => {
        const made = { restored: [] as string[], deleted: [] as string[], skipped: [...skipped] };
        for (const [index, change] of changes.entries()) {
          const done = await attempt(async () => {
            if (!request.isDry) await this.#make(accountId, { vaultId, deviceId: request.deviceId, ...change });
          });
          if (!done.ok) made.skipped.push({ path: change.path, reason: explain(done.fault) });
          else (change.seq === null ? made.deleted : made.restored).push(change.path);
          request.progress?.(index + 1, changes.length, 'files restored');
        }
        return { vaultId, ...made, next };
      },
    );
  }

  async #choose(accountId: string, vaultId: string, request: AsOfRequest): Promise<Chosen> {
    const changes: AsOfChange[] = [];
    const skipped: Skipped[] = [];
    let place: Place = request.after ?? { pass: 'delete', folded: '' };
    for (let looked = 0; looked < limits.asOfFilesMax; ) {
      const rows = this.#rowsAfter(vaultId, request.folder, place.folded);
      for (const { key, value: file } of rows) {
        place = { pass: place.pass, folded: key[1] };
        looked += 1;
        if (turns.isOver) await turns.next(accountId);
        if (file.stored_ms <= request.atMs) continue;
        const past = await pastOf(this.#options.reader, { accountId, vaultId }, file, request.atMs);
        const change = this.#changeOf(vaultId, file, past, place.pass);
        if (change === 'not kept')
          skipped.push({ path: file.path, reason: 'its versions from that time are no longer kept' });
        else if (change !== undefined) changes.push(change);
        if (changes.length >= limits.asOfChangesMax) return { changes, skipped, next: place };
      }
      if (rows.length < limits.listTurnRows) {
        if (place.pass === 'restore') return { changes, skipped, next: undefined };
        place = { pass: 'restore', folded: '' };
      }
    }
    return { changes, skipped, next: place };
  }

  #rowsAfter(vaultId: string, folder: string, folded: string) {
    const prefix = folder === '' ? '' : `${foldCase(folder)}/`;
    const beyond = folded === '' ? prefix : folded;
    const from = beyond === '' ? {} : { beyond };
    const rows = this.#options.store.range(files, { prefix: [vaultId], limit: limits.listTurnRows, ...from });
    const end = rows.findIndex(({ key }) => !key[1].startsWith(prefix));
    return end < 0 ? rows : rows.slice(0, end);
  }

  /** The change that this pass makes of a file. Undefined: none. */
  #changeOf(vaultId: string, file: FileRecord, past: Past, pass: Place['pass']): AsOfChange | 'not kept' | undefined {
    if (past === undefined) return pass === 'restore' ? 'not kept' : undefined;
    const { seq } = past;
    if ((pass === 'delete') !== (seq === null) || (seq === null && file.deleted)) return undefined;
    const then = seq === null ? undefined : this.#options.reader.versionMeta(vaultId, seq);
    if (then !== undefined && isSameVersion(file, then) && isSpelledSo(file, then)) return undefined;
    return { path: file.path, baseSha: file.deleted ? '' : file.sha256, seq };
  }

  async #make(
    accountId: string,
    { seq, ...base }: AsOfChange & { readonly vaultId: string; readonly deviceId: string | undefined },
  ): Promise<void> {
    const { history } = this.#options;
    if (seq === null) await history.remove(accountId, base);
    else await history.restore(accountId, { ...base, seq, respells: true });
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
