/** Opens file sync over a store: what both doors and the background work share. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { Log } from '../log.ts';
import type { Pool } from '../pool/pool.ts';
import type { Sealer } from '../store/seal.ts';
import type { Store } from '../store/store.ts';
import { Changes } from './changes.ts';
import { TextComparer } from './comparer.ts';
import { Conflicts } from './conflicts.ts';
import { Contents } from './contents.ts';
import { Visits } from './devices.ts';
import { DiffQuery } from './diff-query.ts';
import { History } from './history.ts';
import { MergeQuery } from './merge-query.ts';
import { Push } from './push.ts';
import { SyncReader } from './reader.ts';
import { openReading, type Reading } from './reading.ts';
import { Retention } from './retention.ts';
import { SideReader } from './side-reader.ts';
import { PieceStaging } from './staging.ts';
import { VaultLog } from './vault-log.ts';
import { VaultViews } from './vault-view.ts';
import { Vaults } from './vaults.ts';

export interface SyncOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly pool: Pool;
  readonly log: Log;
  /** The life of the data file: the hub's node in the clocks that it makes, and what binds cursors to it. */
  readonly epoch: string;
  /** Binds cursors to this hub. */
  readonly sealer: Pick<Sealer, 'keyedHash'>;
  readonly quotaBytes: number;
  readonly now: () => number;
}

export interface Sync {
  readonly vaults: Vaults;
  readonly push: Push;
  readonly history: History;
  readonly conflicts: Conflicts;
  readonly reader: SyncReader;
  readonly reading: Reading;
  readonly changes: Changes;
  readonly diffs: DiffQuery;
  readonly merges: MergeQuery;
  readonly log: VaultLog;
  readonly retention: Retention;
  /** Long contents that belong to nothing yet. */
  readonly staging: PieceStaging;
}

/** Opens what is needed, and sweeps what a crash left of long contents and of packs. */
export async function openSync(options: SyncOptions): Promise<Sync> {
  const { store, actors, pool, now, quotaBytes } = options;
  const staging = new PieceStaging(store, options.log);
  const swept = await staging.sweep();
  if (swept > 0) options.log.info({ contents: swept }, 'removed what cut-off pushes had staged');
  const vaults = new Vaults({ store, actors, now });
  const reader = new SyncReader(store);
  const changes = new Changes();
  const log = new VaultLog({ actors, reader, changes, nodeId: options.epoch, now });
  const contents = new Contents(pool, staging);
  const push = new Push({ store, vaults, reader, log, contents, visits: new Visits(), quotaBytes });
  const history = new History({ store, vaults, reader, log, quotaBytes });
  const conflicts = new Conflicts({ store, vaults, reader, log, contents, quotaBytes });
  const views = new VaultViews(store, reader);
  const reading = await openReading({ ...options, vaults, reader, views, changes });
  const retention = new Retention({ store, actors, reader, views, packer: reading.packer, now });
  const sides = { vaults, reader, sides: new SideReader(reader, pool), comparer: new TextComparer(pool) };
  const diffs = new DiffQuery(sides);
  const merges = new MergeQuery(sides);
  return { vaults, push, history, conflicts, reader, changes, diffs, merges, log, retention, reading, staging };
}
