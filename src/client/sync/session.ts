/** Owns one run over a synced folder: what it works on, and what it tells of what it did. */
import { respell, Unwritable } from './files.ts';
import type { VaultHub } from './hub.ts';
import { type Scan, scanFolder } from './scan.ts';
import { type SyncState, writeState } from './state.ts';

type SyncVerb =
  | 'pulled'
  | 'pushed'
  | 'renamed'
  | 'merged'
  | 'removed'
  | 'deleted'
  | 'kept'
  | 'revived'
  | 'conflict'
  | 'problem';

/** One thing that happened to one path. */
export interface SyncEvent {
  readonly verb: SyncVerb;
  readonly path: string;
  /** What a person should know or do. */
  readonly note?: string;
}

export interface SyncSession {
  readonly folder: string;
  readonly hub: VaultHub;
  readonly state: SyncState;
  readonly tell: (event: SyncEvent) => void;
  /** Told while files arrive. */
  readonly progress: (done: number, total: number) => void;
}

/**
 * What takes part now, by the last hashes where they still hold. Paths that cannot are told once. Names are put into NFC on
 * the disk, so that one name means one file from here on.
 */
export function scan({ folder, state, tell }: SyncSession, isFirst: boolean): Scan {
  const found = scanFolder(folder, state.base);
  for (const [path, here] of found.otherForms) {
    const problem = putIntoNfc(folder, here, path);
    if (problem === undefined) {
      tell({ verb: 'renamed', path, note: 'its name is now in the Unicode form that all devices share' });
      continue;
    }
    found.files.delete(path);
    found.skipped.set(path, problem);
  }
  if (isFirst) for (const [path, note] of found.skipped) tell({ verb: 'problem', path, note });
  return found;
}

export function save({ folder, state }: SyncSession): void {
  writeState(folder, state);
}

/** Notes that both sides hold these bytes. */
export function agree(state: SyncState, path: string, record: SyncState['base'][string] | undefined): void {
  if (record === undefined) delete state.base[path];
  else state.base[path] = record;
  delete state.conflicts[path];
}

/** Undefined: it is done; else why it cannot be, in words for the user. */
function putIntoNfc(folder: string, here: string, path: string): string | undefined {
  try {
    return respell(folder, here, path) ? undefined : 'is not spelled in NFC on this disk, and another file is';
  } catch (error) {
    // A disk that takes no new name, or a path that may not be written: the rest is synced.
    const why = error instanceof Unwritable ? error.message : (error as NodeJS.ErrnoException).code;
    return `is not spelled in NFC on this disk and cannot be renamed (${why})`;
  }
}
