/** Owns one run over a synced folder: what it works on, and what it tells of what it did. */
import type { VaultHub } from './hub.ts';
import { type Scan, scanFolder } from './scan.ts';
import { type SyncState, writeState } from './state.ts';

type SyncVerb = 'pulled' | 'pushed' | 'merged' | 'removed' | 'deleted' | 'kept' | 'revived' | 'conflict' | 'problem';

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

/** What takes part now, by the last hashes where they still hold. Paths that cannot are told once. */
export function scan({ folder, state, tell }: SyncSession, isFirst: boolean): Scan {
  const found = scanFolder(folder, state.base);
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
