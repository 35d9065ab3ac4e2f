/** Opens file sync over a store: everything shared by its interfaces and the background work. */

import type { ActorRegistry } from '../actors/registry.ts';
import type { Log } from '../common/log.ts';
import type { Pool } from '../pool/pool.ts';
import type { Damage } from '../store/data-file/damage.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { TextComparer } from './compare/comparer.ts';
import { DiffQuery } from './compare/diff.ts';
import { MergeQuery } from './compare/merge.ts';
import { SideReader } from './compare/side-reader.ts';
import { Conflicts } from './conflicts/conflicts.ts';
import { ChunkStore } from './contents/chunk-store.ts';
import { Contents } from './contents/incoming.ts';
import { ManyContents } from './contents/many.ts';
import { PieceStaging } from './contents/staging.ts';
import { AsOf } from './history/as-of.ts';
import { FolderAt } from './history/folder-at.ts';
import { History } from './history/history.ts';
import { Retention } from './history/retention.ts';
import { VaultRemoval } from './history/vault-removal.ts';
import type { FileRoom } from './log/file-room.ts';
import { SyncReader } from './log/reader.ts';
import { VaultLog } from './log/vault-log.ts';
import { VaultViews } from './packs/vault-view.ts';
import { Push } from './push/push.ts';
import { PushMany } from './push/push-many.ts';
import { openReading, type SyncReading } from './reading.ts';
import { PushVisits } from './vaults/push-visits.ts';
import { Vaults } from './vaults/vaults.ts';

export interface SyncOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly pool: Pool;
  readonly damage: Damage;
  readonly log: Log;
  /** Identifies the life of the data file: the hub's node in the clocks that it generates. Binds cursors to the file. */
  readonly epoch: string;
  /** Binds cursors to this hub. */
  readonly sealer: Pick<Sealer, 'keyedHash'>;
  readonly room: FileRoom;
  readonly now: () => number;
}

export interface Sync {
  readonly vaults: Vaults;
  readonly push: Push;
  readonly pushMany: PushMany;
  readonly history: History;
  readonly asOf: AsOf;
  readonly folderAt: FolderAt;
  readonly conflicts: Conflicts;
  readonly reader: SyncReader;
  readonly reading: SyncReading;
  readonly diffs: DiffQuery;
  readonly merges: MergeQuery;
  readonly comparer: TextComparer;
  readonly log: VaultLog;
  readonly retention: Retention;
  readonly removal: VaultRemoval;
  /** Stages long contents before they belong to a version. */
  readonly staging: PieceStaging;
  readonly chunks: ChunkStore;
}

/** Opens all parts of file sync. Packs left by a crash are removed at once, long contents in the background. */
export async function openSync(options: SyncOptions): Promise<Sync> {
  const { store, actors, pool, now, room } = options;
  const staging = new PieceStaging(options);
  // A list counts in thousands of chunks, and a start does not wait until that is taken back.
  void staging.sweep().then((swept) => {
    if (swept > 0) options.log.info({ contents: swept }, 'removed bytes staged by interrupted pushes');
  });
  const vaults = new Vaults({ store, actors, now });
  const reader = new SyncReader(store, options.damage);
  const log = new VaultLog({
    actors,
    nodeId: options.epoch,
    now,
    checkKept: (vaultId) => vaults.checkKept(vaultId),
  });
  const chunks = new ChunkStore({ store, pool, staging, log, room, now });
  const contents = new Contents(pool, staging, chunks);
  const push = new Push({ ...options, vaults, log, contents, visits: new PushVisits() });
  const pushMany = new PushMany({ vaults, push, contents: new ManyContents(pool, staging) });
  const history = new History({ vaults, reader, log, room });
  const asOf = new AsOf({ store, vaults, reader, history });
  const conflicts = new Conflicts({ store, vaults, reader, log, contents, chunks, room });
  const views = new VaultViews(store, reader);
  const reading = await openReading({ ...options, vaults, reader, views });
  const retention = new Retention({ store, actors, reader, views, staging, packer: reading.packer, now });
  const removal = new VaultRemoval({
    store,
    log: options.log,
    retirePacks: (ids) => reading.packer.leases.retire(ids),
  });
  const comparer = new TextComparer(pool);
  const sides = { vaults, reader, sides: new SideReader(reader, pool), comparer };
  const diffs = new DiffQuery(sides);
  const merges = new MergeQuery(sides);
  return {
    vaults,
    push,
    pushMany,
    history,
    asOf,
    folderAt: new FolderAt(store, reader),
    conflicts,
    reader,
    diffs,
    merges,
    comparer,
    log,
    retention,
    removal,
    reading,
    staging,
    chunks,
  };
}
