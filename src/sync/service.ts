/** Opens file sync over a store: what both doors and the background work share. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { Log } from '../log.ts';
import type { Pool } from '../pool/pool.ts';
import type { Store } from '../store/store.ts';
import { Changes } from './changes.ts';
import { TextComparer } from './comparer.ts';
import { DiffQuery } from './diff-query.ts';
import { MergeQuery } from './merge-query.ts';
import { Push } from './push.ts';
import { SyncReader } from './reader.ts';
import { SideReader } from './side-reader.ts';
import { PieceStaging } from './staging.ts';
import { Vaults } from './vaults.ts';

export interface SyncOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly pool: Pool;
  readonly log: Log;
  /** The life of the data file: the hub's node in the clocks that it makes. */
  readonly epoch: string;
  readonly quotaBytes: number;
  readonly now: () => number;
}

export interface Sync {
  readonly vaults: Vaults;
  readonly push: Push;
  readonly reader: SyncReader;
  readonly changes: Changes;
  readonly diffs: DiffQuery;
  readonly merges: MergeQuery;
}

/** Opens what is needed, and sweeps what a crash left of long contents. */
export async function openSync(options: SyncOptions): Promise<Sync> {
  const { store, actors, pool, log, now, quotaBytes } = options;
  const staging = new PieceStaging(store, log);
  const swept = await staging.sweep();
  if (swept > 0) log.info({ contents: swept }, 'removed what cut-off pushes had staged');
  const vaults = new Vaults({ store, actors, now });
  const reader = new SyncReader(store);
  const changes = new Changes();
  const nodeId = options.epoch;
  const push = new Push({ actors, pool, vaults, reader, staging, changes, nodeId, quotaBytes, now });
  const sides = { vaults, reader, sides: new SideReader(reader, pool), comparer: new TextComparer(pool) };
  return { vaults, push, reader, changes, diffs: new DiffQuery(sides), merges: new MergeQuery(sides) };
}
