/** Opens LMDB environments with the settings common to all data files. */
import { type DatabaseOptions, open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { noteDataWriter } from '../common/end-process.ts';
import { limits } from '../limits/service.ts';
import { checkWritable } from './data-file/check.ts';
import type { AnyTable, Key } from './table.ts';
import type { Raw } from './transaction.ts';

export type Environment = RootDatabase<Buffer, Key>;

export interface EnvironmentOptions {
  readonly path: string;
  /** Address space of the memory map: the largest size of the data file. */
  readonly mapBytes: number;
  readonly readOnly: boolean;
}

/**
 * Opens or creates a data file. Call `checkDataFile` first: on a damaged file LMDB ends the process with a signal.
 * @throws StartError when it is to be written and this user may not
 */
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
  if (!readOnly) {
    checkWritable(path);
    noteDataWriter();
  }
  return open<Buffer, Key>(settings);
}

/** Opens tables by name and creates those that are missing; read-only, a missing one is left out and reads as empty. */
export function openTables(root: Environment, tables: readonly AnyTable[], readOnly: boolean): Map<string, Raw> {
  const opened = new Map<string, Raw>();
  const openAll = () => {
    for (const { name } of tables) {
      const raw = openTable(root, name);
      if (raw) opened.set(name, raw);
    }
  };
  // In a new file one commit creates all tables: one for each would wait for the disk as often.
  if (readOnly) openAll();
  else root.transactionSync(openAll);
  return opened;
}

/** What the library's stores have beyond their types: how they write a key as bytes, and read one. */
interface KeyEncoder {
  writeKey(key: Key, target: Uint8Array, start: number): number;
  readKey(source: Uint8Array, start: number, end: number): Key;
}

/**
 * Opens a table, and creates it if it is missing; read-only, a missing one is undefined. Keys are those of the library, given
 * to it as an encoder of ours: then LMDB compares them by `memcmp`, which orders them as the library's own comparison of four
 * bytes at a time does, in a quarter of its time.
 */
export function openTable(root: Environment, name: string): Raw | undefined {
  const options: DatabaseOptions & { readonly keyEncoder: KeyEncoder } = {
    encoding: 'binary',
    keyEncoder: root as unknown as KeyEncoder,
  };
  // The library gives nothing for one that is missing, though its types do not say so.
  return root.openDB({ name, ...options }) as Raw | undefined;
}
