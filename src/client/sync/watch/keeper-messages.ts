/** Defines what the loop of a watch and the thread that keeps saves tell each other. */

import type { Blind } from './reports.ts';

export interface KeepData {
  /** Absolute path of the synced folder, with links resolved. */
  readonly root: string;
  /** Patterns of the paths that this device syncs; empty: everything. */
  readonly only: readonly string[];
  /** The table of `WrittenFiles`. */
  readonly written: SharedArrayBuffer;
}

/** What the loop knows of a file. */
export interface KnownSave {
  /** Hash of the version that both sides agreed on; empty for none. */
  readonly base: string;
  /** Hash that the hub has as a side of a conflict. */
  readonly elsewhere: string | undefined;
  /** True for a file to which a program keeps writing. */
  readonly isRestless: boolean;
}

export type ToKeeper =
  /** A file may have changed, by its path on this disk. `isLate`: the thread, which watches its folder, may have heard of it before. */
  | { readonly type: 'changed'; readonly path: string; readonly isLate?: boolean }
  /** Everything was scanned: folders may take part that did not. */
  | { readonly type: 'scanned'; readonly only: readonly string[] }
  | { readonly type: 'known'; readonly id: number; readonly known: KnownSave }
  | { readonly type: 'close' };

export type FromKeeper =
  /** Every folder is watched. */
  | { readonly type: 'ready' }
  /** Not every folder could be watched. */
  | { readonly type: 'blind'; readonly blind: Blind }
  /** So many files changed at once that not each was looked at; there is room for those that changed last. */
  | { readonly type: 'behind' }
  | { readonly type: 'asked'; readonly id: number; readonly path: string }
  /** A copy was stored while the loop was busy, so it is not known on which version it is based. */
  | { readonly type: 'kept'; readonly name: string }
  /** Not each save of these files is kept. */
  | { readonly type: 'lost'; readonly paths: readonly string[] };
