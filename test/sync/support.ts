/** Opens file sync over a store of its own, under a clock that the test moves. */

import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { openLog } from '../../src/common/log.ts';
import { allTables } from '../../src/compose/tables.ts';
import { Pool } from '../../src/pool/pool.ts';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import { Damage } from '../../src/store/data-file/damage.ts';
import { createSealer } from '../../src/store/sealing/seal.ts';
import { Store } from '../../src/store/store.ts';
import { syncTables } from '../../src/sync/log/records.ts';
import type { PushArguments } from '../../src/sync/push/input.ts';
import { openSync, type Sync, type SyncOptions } from '../../src/sync/service.ts';
import { deletedRows } from '../../src/sync/verify/deleted.ts';
import { verifyPacks } from '../../src/sync/verify/packs.ts';
import { verifySync } from '../../src/sync/verify/vaults.ts';
import { clockAt } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NO_BOUND = {
  quotasOf: () => ({ files: 2 ** 40, history: 2 ** 40 }),
  checkReserve: () => undefined,
  noteRefused: () => undefined,
};

/** Beside the tests as they are written, and as they are built. */
const [WORKERS = new URL('../../dist/workers/', import.meta.url)] = ['../../dist/workers/', '../../workers/']
  .map((place) => new URL(place, import.meta.url))
  .filter((place) => existsSync(place));

export interface SyncDesk {
  readonly store: Store;
  readonly sync: Sync;
  readonly clock: { ms: number };
  /** What it was opened with, for another process over the same store. */
  readonly options: SyncOptions;
  /** Arguments of a correct push, whose clock is the desk's. */
  push(path: string, content: string, more?: Partial<PushArguments>): PushArguments;
  /** What `cairn verify` would find. */
  problems(): string[];
  /** Names of the tables that hold a row whose key begins with an id. */
  rowsOf(id: string): string[];
  close(): Promise<void>;
}

export async function openSyncDesk(startMs: number, room: SyncOptions['room'] = NO_BOUND): Promise<SyncDesk> {
  const store = new Store({ folder: temporaryFolder(), tables: allTables });
  const actors = new ActorRegistry(store);
  const pool = new Pool({ threads: 1, workersFolder: WORKERS });
  const clock = { ms: startMs };
  const { log } = openLog('silent');
  const epoch = '0123456789abcdef';
  const sealer = createSealer(randomBytes(32));
  const damage = new Damage(log);
  const options = { store, actors, pool, damage, log, epoch, sealer, room, now: () => clock.ms };
  const sync = await openSync(options);
  return {
    store,
    sync,
    clock,
    options,
    push: (path, content, more = {}) => ({
      path,
      content,
      sha256: createHash('sha256').update(content).digest('hex'),
      hlc: clockAt(clock.ms),
      device_id: 'laptop',
      mustHash: true,
      ...more,
    }),
    problems: () => {
      const deleted = deletedRows(new CheckedReader(store));
      const reader = new CheckedReader(store, new Set(deleted.vaultIds));
      return [...verifySync(reader, deleted).problems, ...verifyPacks(reader, deleted).problems, ...reader.problems];
    },
    rowsOf: (id) => syncTables.filter((table) => [...store.keys(table, [id])].length > 0).map(({ name }) => name),
    async close() {
      await sync.reading.close();
      await sync.staging.close();
      await actors.drain();
      await pool.close();
      await store.close();
    },
  };
}
