/** Opens LMDB environments with the settings common to all data files. */
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { noteDataWriter } from '../common/end-process.ts';
import { limits } from '../limits/service.ts';
import type { AnyTable, Key } from './table.ts';
import type { Raw } from './transaction.ts';

export type Environment = RootDatabase<Buffer, Key>;

export interface EnvironmentOptions {
  readonly path: string;
  /** Address space of the memory map: the largest size of the data file. */
  readonly mapBytes: number;
  readonly readOnly: boolean;
}

/** Opens or creates a data file. Call `checkDataFile` first: on a damaged file LMDB ends the process with a signal. */
export function openEnvironment({ path, mapBytes, readOnly }: EnvironmentOptions): Environment {
  const settings: RootDatabaseOptionsWithPath & { readonly safeRestore: boolean } = {
    path,
    noSubdir: true,
    encoding: 'binary',
    keyEncoding: 'ordered-binary',
    maxDbs: limits.tablesMax,
    maxReaders: limits.readersMax,
    mapSize: mapBytes,
    readOnly,
    // Off: in the classic order (pages, fdatasync, meta page) a commit becomes visible and durable at the same moment.
    overlappingSync: false,
    safeRestore: true,
  };
  if (!readOnly) noteDataWriter();
  return open<Buffer, Key>(settings);
}

/** Opens tables by name and creates those that are missing; read-only, a missing one is left out and reads as empty. */
export function openTables(root: Environment, tables: readonly AnyTable[], readOnly: boolean): Map<string, Raw> {
  const opened = new Map<string, Raw>();
  const openAll = () => {
    for (const { name } of tables) {
      const raw = root.openDB({ name, encoding: 'binary', keyEncoding: 'ordered-binary' });
      // LMDB gives nothing for one that is missing, though its types do not say so.
      if (raw) opened.set(name, raw as Raw);
    }
  };
  // In a new file one commit creates all tables: one for each would wait for the disk as often.
  if (readOnly) openAll();
  else root.transactionSync(openAll);
  return opened;
}
