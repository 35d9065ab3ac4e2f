/** Opens LMDB environments: the settings that every opening of a data file shares. */
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { limits } from '../limits/service.ts';
import type { Key } from './table.ts';

export type Environment = RootDatabase<Buffer, Key>;

export interface EnvironmentOptions {
  /** The data file. */
  readonly path: string;
  /** Address space of the memory map: what the data file may grow to. */
  readonly mapBytes: number;
  readonly readOnly: boolean;
}

/** Opens or makes a data file. Check it first (`checkDataFile`): LMDB answers damage with a signal. */
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
    // Off: the classic order (pages, fdatasync, meta page) makes "visible" and "durable" the same moment.
    overlappingSync: false,
    safeRestore: true,
  };
  return open<Buffer, Key>(settings);
}
