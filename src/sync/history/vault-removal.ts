/**
 * Removes the rows of deleted vaults in the background, a bounded number per commit, so that other work can run in
 * between. A vault stays listed as deleted until a whole round finds no rows of it. So rows still being written for it
 * are removed too, and a stop or a crash only delays the rest.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../common/log.ts';
import { Rounds } from '../../common/rounds.ts';
import type { Sweep } from '../../common/sweep.ts';
import { limits } from '../../limits/service.ts';
import { intact, intactView } from '../../store/intact.ts';
import { SWEEP } from '../../store/owners.ts';
import { removeRows } from '../../store/remove-rows.ts';
import type { Store } from '../../store/store.ts';
import type { AnyTable } from '../../store/table.ts';
import { PieceShares, removePieces } from '../contents/piece-shares.ts';
import { loosePacks, packDead, packs } from '../log/pack-records.ts';
import {
  conflictBytes,
  conflicts,
  deletedVaults,
  devices,
  fileChunks,
  files,
  folders,
  pendingConflicts,
  usage,
  vaultHeads,
  versions,
  versionsAside,
} from '../log/records.ts';
import { readVersionHead } from '../log/version.ts';
import { readPackSummary } from '../packs/index-layout.ts';

/** Tables whose rows can be removed without updating other tables. */
const PLAIN: readonly AnyTable[] = [
  files,
  folders,
  pendingConflicts,
  conflictBytes,
  devices,
  packDead,
  versionsAside,
  usage,
  vaultHeads,
];

export interface VaultRemovalOptions {
  readonly store: Store;
  readonly log: Log;
  /** Takes packs that no index names any more. They are removed once no stream reads them. */
  readonly retirePacks: (packIds: readonly number[]) => void;
}

export class VaultRemoval {
  readonly sweep: Sweep = { what: 'deleted vaults', byAge: false, run: () => this.run() };
  readonly #options: VaultRemovalOptions;
  readonly #rounds: Rounds;

  constructor(options: VaultRemovalOptions) {
    this.#options = options;
    this.#rounds = new Rounds({
      round: () => this.#round(),
      onFailure: (error) =>
        options.log.warn({ err: error }, 'a deleted vault was not removed; the next round tries again'),
    });
  }

  /** Starts a round in the background. */
  begin(): void {
    this.#rounds.begin();
  }

  /** Runs a round over all deleted vaults, after any running one. Resolves with the number of rows removed. */
  run(): Promise<number> {
    return this.#rounds.run();
  }

  /** Stops. Resolves when no removal is running any more. The next start continues. */
  async close(): Promise<void> {
    await this.#rounds.close();
  }

  async #round(): Promise<number> {
    const { store } = this.#options;
    let gone = 0;
    for (const [vaultId] of Array.from(store.keys(deletedVaults))) {
      const logged = (await this.#versions(vaultId)) + (await this.#conflicts(vaultId));
      const rows = logged + (await this.#chunks(vaultId)) + (await this.#packs(vaultId));
      if (this.#rounds.isStopped) return gone;
      for (const table of PLAIN) await removeRows(store, table, [vaultId]);
      if (rows === 0) await store.write(SWEEP, (batch) => batch.remove(deletedVaults, [vaultId]));
      gone += rows;
    }
    return gone;
  }

  /** Removes versions, and the pieces that nothing else shares. */
  #versions(vaultId: string): Promise<number> {
    const { store } = this.#options;
    return this.#inPortions(() => {
      const due = [...first(store.keys(versions, [vaultId]), limits.sweepTurnRows)];
      return due.length === 0
        ? undefined
        : store.write(SWEEP, (batch): number => {
            const shares = new PieceShares(batch);
            for (const key of due) {
              // The pieces of a damaged version stay: their number is not known.
              const bytes = intactView(batch, versions, key);
              const storageId = bytes === undefined ? 0 : readVersionHead(bytes).storageId;
              if (storageId !== 0) shares.release(storageId);
              batch.remove(versions, key);
            }
            return due.length;
          });
    });
  }

  #conflicts(vaultId: string): Promise<number> {
    const { store } = this.#options;
    return this.#inPortions(() => {
      const due = [...first(store.keys(conflicts, [vaultId]), limits.sweepTurnRows)];
      return due.length === 0
        ? undefined
        : store.write(SWEEP, (batch): number => {
            const shares = new PieceShares(batch);
            for (const key of due) {
              const storageId = intact(batch, conflicts, key)?.storage_id ?? 0;
              if (storageId !== 0) shares.release(storageId);
              batch.remove(conflictBytes, key);
              batch.remove(conflicts, key);
            }
            return due.length;
          });
    });
  }

  /** Removes chunks: nothing outside of the vault has them. */
  #chunks(vaultId: string): Promise<number> {
    const { store } = this.#options;
    return this.#inPortions(() => {
      const due = [...first(store.keys(fileChunks, [vaultId]), limits.chunkRowsPerDecision)];
      return due.length === 0
        ? undefined
        : store.write(SWEEP, (batch): number => {
            for (const key of due) {
              const storageId = intact(batch, fileChunks, key)?.storage_id ?? 0;
              removePieces(batch, storageId);
              batch.remove(fileChunks, key);
            }
            return due.length;
          });
    });
  }

  /** Removes the index of packs. Their bytes are listed as loose and stay until no stream reads them. */
  #packs(vaultId: string): Promise<number> {
    const { store, retirePacks } = this.#options;
    return this.#inPortions(() => {
      const due = [...first(store.keys(packs, [vaultId]), limits.packsRemovedMax)];
      if (due.length === 0) return undefined;
      const packIds = due.flatMap((key) => {
        const summary = intact(store, packs, key);
        const packId = summary === undefined ? 0 : readPackSummary(key[1], summary).packId;
        return packId === 0 ? [] : [packId];
      });
      const since = new Date().toISOString();
      return store
        .write(SWEEP, (batch): number => {
          for (const key of due) batch.remove(packs, key);
          for (const packId of packIds) batch.put(loosePacks, [packId], { since });
          return due.length;
        })
        .then((count) => {
          retirePacks(packIds);
          return count;
        });
    });
  }

  /** Runs a step until it finds nothing more. */
  async #inPortions(step: () => Promise<number> | undefined): Promise<number> {
    let gone = 0;
    while (!this.#rounds.isStopped) {
      const removed = await step();
      if (removed === undefined) break;
      gone += removed;
      await nextTurn();
    }
    return gone;
  }
}

function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const item of items) {
    if (taken === count) return;
    taken += 1;
    yield item;
  }
}
