/**
 * Removes old data: versions of a path beyond the newest 20 and older than 30 days, and conflicts settled more than 30
 * days ago; on request, more of one vault. Works in short turns. Never removes a current version, nor a version of a
 * path with a pending conflict, because it may be the base of that conflict.
 */
import { setImmediate } from 'node:timers/promises';
import type { ActorRegistry } from '../../actors/registry.ts';
import type { Sweep } from '../../common/sweep.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { intact, unlessDamaged } from '../../store/intact.ts';
import type { Store } from '../../store/store.ts';
import { countFreed, isForgotten, removeLoose } from '../contents/chunk-refs.ts';
import { PieceShares } from '../contents/piece-shares.ts';
import type { PieceStaging } from '../contents/staging.ts';
import { keptBytes } from '../log/change.ts';
import type { FileRecord } from '../log/file-record.ts';
import { SyncReader } from '../log/reader.ts';
import {
  conflictBytes,
  conflicts,
  fileChunks,
  files,
  vaultHeads,
  vaultOwners,
  versions,
  versionsAside,
} from '../log/records.ts';
import { type Encoding, readVersionHead } from '../log/version.ts';
import type { Packer } from '../packs/packer.ts';
import type { VaultViews } from '../packs/vault-view.ts';
import { isConflictDue, isVersionDue, type Kept, keptAt, keptOnRequest } from './due.ts';

export interface RetentionOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly reader: SyncReader;
  readonly views: VaultViews;
  readonly staging: PieceStaging;
  readonly packer: Packer;
  readonly now: () => number;
}

export class Retention {
  readonly sweep: Sweep = { what: 'versions', byAge: true, run: () => this.run() };
  readonly #options: RetentionOptions;
  #isStopped = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Runs one round over every vault. Resolves with the number of versions and conflicts removed. */
  async run(): Promise<number> {
    const { store, now } = this.#options;
    const kept = keptAt(now());
    let gone = 0;
    for (const [vaultId] of Array.from(store.keys(vaultHeads))) {
      // Until an import completes, its vaults have no owner, and the import relies on the versions it has written.
      if (intact(store, vaultOwners, [vaultId]) === undefined) continue;
      gone += await unlessDamaged(() => this.#sweepFiles(vaultId, kept), 0);
      gone += await unlessDamaged(() => this.#sweepConflicts(vaultId, kept.cutoffMs), 0);
      await unlessDamaged(() => this.#sweepChunks(vaultId, now()), undefined);
    }
    return gone;
  }

  /**
   * Removes all earlier versions and settled conflicts of one vault that are older than `olderThanDays`. The current
   * version of each path stays, tombstones included. Resolves with the number of versions and conflicts removed.
   */
  async clear(vaultId: string, olderThanDays: number): Promise<number> {
    const kept = keptOnRequest(this.#options.now(), olderThanDays);
    const versions = await this.#sweepFiles(vaultId, kept);
    return versions + (await this.#sweepConflicts(vaultId, kept.cutoffMs));
  }

  /** Ends a running round at its next step, and each later one immediately. */
  stop(): void {
    this.#isStopped = true;
  }

  async #sweepFiles(vaultId: string, kept: Kept): Promise<number> {
    const { store } = this.#options;
    let gone = 0;
    let beyond: string | undefined;
    while (!this.#isStopped) {
      const from = beyond === undefined ? {} : { beyond };
      const keys = [...store.keysIn(files, { prefix: [vaultId], limit: limits.sweepTurnRows, ...from })];
      for (const key of keys) {
        const file = intact(store, files, key);
        if (file === undefined || file.versions <= kept.versionsMin) continue;
        gone += await unlessDamaged(() => this.#trim(vaultId, key[1], file, kept), 0);
      }
      beyond = keys.at(-1)?.[1];
      if (keys.length < limits.sweepTurnRows) break;
      await setImmediate();
    }
    return gone;
  }

  /** Removes the old end of a path's chain, the oldest first, so that a crash in between leaves a shorter chain. */
  async #trim(vaultId: string, folded: string, file: FileRecord, kept: Kept): Promise<number> {
    const { actors } = this.#options;
    const old = await this.#oldVersions(vaultId, file.seq, kept);
    const due = (await this.#packed(vaultId, old)).reverse();
    for (let at = 0; at < due.length; ) {
      const seqs = due.slice(at, at + limits.sweepTurnRows);
      const lists = await actors.vault(vaultId).ask((batch): readonly number[] | undefined => {
        const reader = new SyncReader(batch);
        const current = reader.file(vaultId, folded);
        if (current === undefined || reader.pendingOf(vaultId, folded).length > 0) return undefined;
        const { removed, lists } = this.#removeVersions(batch, vaultId, seqs);
        batch.put(files, [vaultId, folded], { ...current, versions: current.versions - removed });
        return lists;
      });
      if (lists === undefined) return at;
      await this.#discard(lists);
      at += seqs.length;
    }
    return due.length;
  }

  /** Removes lists of chunks that have lost their last version or conflict, a portion of their chunks a decision. */
  async #discard(lists: readonly number[]): Promise<void> {
    for (const storageId of lists) await this.#options.staging.discard(storageId);
  }

  /** Returns the versions covered by packs. The tail records which lines of packs are outdated, so it stays. */
  async #packed(vaultId: string, seqs: readonly number[]): Promise<number[]> {
    const { packer, views } = this.#options;
    if ((seqs[0] ?? 0) > views.packedUpTo(vaultId)) await packer.packAll(vaultId);
    const packedUpTo = views.packedUpTo(vaultId);
    return seqs.filter((seq) => seq <= packedUpTo);
  }

  /**
   * The versions of a chain beyond the newest and before the cutoff, newest first. They stay due: a chain only gets
   * older.
   */
  async #oldVersions(vaultId: string, newest: number, kept: Kept): Promise<number[]> {
    const due: number[] = [];
    let place = 0;
    for (const { seq, storedMs } of this.#options.reader.chain(vaultId, newest)) {
      if (isVersionDue(kept, place, storedMs)) due.push(seq);
      place += 1;
      if (place % limits.sweepTurnRows === 0) await setImmediate();
    }
    return due;
  }

  #removeVersions(batch: Batch, vaultId: string, seqs: readonly number[]) {
    const contents = new Releases(batch, vaultId, this.#options.staging);
    let freed = 0;
    let removed = 0;
    for (const seq of seqs) {
      const bytes = batch.view(versions, [vaultId, seq]);
      if (bytes === undefined) continue;
      const { storageId, sizeBytes, encoding } = readVersionHead(bytes);
      if (storageId !== 0) contents.release(storageId, encoding);
      freed += keptBytes(sizeBytes);
      removed += 1;
      batch.remove(versions, [vaultId, seq]);
      batch.remove(versionsAside, [vaultId, seq]);
    }
    countFreed(batch, vaultId, freed);
    return { removed, lists: contents.lists };
  }

  /** Removes chunks that no list has and no answer named for a day: their push was given up. */
  async #sweepChunks(vaultId: string, nowMs: number): Promise<void> {
    const { store, actors } = this.#options;
    let beyond: string | undefined;
    while (!this.#isStopped) {
      const from = beyond === undefined ? {} : { beyond };
      const keys = [...store.keysIn(fileChunks, { prefix: [vaultId], limit: limits.chunkRowsPerDecision, ...from })];
      const due = keys.flatMap((key) => {
        const row = intact(store, fileChunks, key);
        return row !== undefined && row.holders === 0 && isForgotten(row, nowMs) ? [key[1]] : [];
      });
      if (due.length > 0) {
        await actors.vault(vaultId).ask((batch) => removeLoose(batch, vaultId, due, nowMs));
      }
      beyond = keys.at(-1)?.[1];
      if (keys.length < limits.chunkRowsPerDecision) break;
      await setImmediate();
    }
  }

  async #sweepConflicts(vaultId: string, cutoffMs: number): Promise<number> {
    const { store, actors, staging } = this.#options;
    let gone = 0;
    let beyond: string | undefined;
    while (!this.#isStopped) {
      const from = beyond === undefined ? {} : { beyond };
      const keys = [...store.keysIn(conflicts, { prefix: [vaultId], limit: limits.sweepTurnRows, ...from })];
      const due = keys.filter((key) => {
        const conflict = intact(store, conflicts, key);
        return conflict !== undefined && isConflictDue(cutoffMs, conflict);
      });
      if (due.length > 0) {
        const lists = await actors.vault(vaultId).ask((batch): readonly number[] => {
          const contents = new Releases(batch, vaultId, staging);
          let freed = 0;
          for (const key of due) {
            // A concurrent round may have removed it, or somebody has taken back what settled it.
            const value = batch.get(conflicts, key);
            if (value === undefined || !isConflictDue(cutoffMs, value)) continue;
            freed += keptBytes(value.size_bytes);
            batch.remove(conflicts, key);
            if (value.storage_id !== 0) contents.release(value.storage_id, value.encoding);
            else batch.remove(conflictBytes, key);
          }
          countFreed(batch, vaultId, freed);
          return contents.lists;
        });
        await this.#discard(lists);
      }
      gone += due.length;
      beyond = keys.at(-1)?.[1];
      if (keys.length < limits.sweepTurnRows) break;
      await setImmediate();
    }
    return gone;
  }
}

/** Releases contents within a decision. */
class Releases {
  /** Lists of chunks that have lost their last version or conflict: staged again, to be discarded after the commit. */
  readonly lists: number[] = [];
  readonly #shares: PieceShares;
  readonly #orphan: (storageId: number) => void;

  constructor(batch: Batch, vaultId: string, staging: PieceStaging) {
    this.#shares = new PieceShares(batch);
    this.#orphan = (storageId) => {
      staging.lists.orphan(batch, vaultId, storageId);
      this.lists.push(storageId);
    };
  }

  release(storageId: number, encoding: Encoding): void {
    if (encoding === 'chunks') this.#shares.release(storageId, this.#orphan);
    else this.#shares.release(storageId);
  }
}
