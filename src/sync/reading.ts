/** Opens the read side of file sync: pulls and lists, waiting for changes, and the packs that pulls are made of. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { Log } from '../common/log.ts';
import { Changes } from '../live/changes.ts';
import type { Damage } from '../store/data-file/damage.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { SyncReader } from './log/reader.ts';
import { deletedVaults, vaultHeads, vaultOwners } from './log/records.ts';
import { Packer } from './packs/packer.ts';
import type { VaultViews } from './packs/vault-view.ts';
import type { CursorHash } from './pull/cursor.ts';
import { Folders } from './pull/folders.ts';
import { FileLists } from './pull/list.ts';
import { PlanRuns } from './pull/plan-run.ts';
import { Pull } from './pull/pull.ts';
import { Waiters } from './pull/waiters.ts';
import { PullVisits } from './vaults/pull-visits.ts';
import type { Vaults } from './vaults/vaults.ts';

export interface ReadingOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly views: VaultViews;
  readonly damage: Damage;
  readonly log: Log;
  readonly epoch: string;
  readonly sealer: Pick<Sealer, 'keyedHash'>;
  readonly now: () => number;
}

export interface SyncReading {
  readonly pull: Pull;
  readonly fileLists: FileLists;
  readonly folders: Folders;
  readonly packer: Packer;
  readonly vaults: Vaults;
  readonly reader: SyncReader;
  readonly views: VaultViews;
  readonly visits: PullVisits;
  readonly epoch: string;
  /** Binds cursors to this hub. */
  readonly hash: CursorHash;
  readonly now: () => number;
  /** Answers all pulls waiting for a change; later pulls do not wait. */
  stopWaiting(): void;
  waitingPulls(): number;
  /** Stops the background work. Resolves when none of it is running. */
  close(): Promise<void>;
}

/** Opens the read side, and removes packs left loose by a stop. */
export async function openReading(options: ReadingOptions): Promise<SyncReading> {
  const { store, actors, vaults, reader, views, log, epoch, sealer, now } = options;
  const hash: CursorHash = (text) => sealer.keyedHash('sync-cursor', text);
  const packer = new Packer({
    store,
    actors,
    reader,
    views,
    changes: new Changes(store, [vaultHeads, vaultOwners]),
    log,
  });
  const swept = await packer.sweep();
  if (swept > 0) log.info({ packs: swept }, 'removed unreferenced packs');
  const waiters = new Waiters(new Changes(store, [vaultHeads, deletedVaults]));
  const visits = new PullVisits({ store, actors, log, now });
  const runs = new PlanRuns({ store, damage: options.damage, onDamagedPack: (vaultId) => packer.drop(vaultId) });
  return {
    pull: new Pull({ vaults, reader, views, runs, packer, waiters, visits, hash, epoch, now }),
    fileLists: new FileLists(store, reader),
    folders: new Folders(store, reader),
    packer,
    vaults,
    reader,
    views,
    visits,
    epoch,
    hash,
    now,
    waitingPulls: () => waiters.count,
    stopWaiting: () => waiters.close(),
    async close() {
      waiters.close();
      await packer.close();
      await visits.close();
    },
  };
}
