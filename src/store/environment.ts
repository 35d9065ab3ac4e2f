/** Opens LMDB environments with the settings common to all data files. */
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { limits } from '../limits/service.ts';
import type { Key } from './table.ts';

export type Environment = RootDatabase<Buffer, Key>;

export interface EnvironmentOptions {
  /** The data file. */
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
  return open<Buffer, Key>(settings);
}
