/** Defines the replica of a vault in a folder: what stays the same while it is synced. round.ts has the rest. */

import type { Amount } from './amount.ts';
import type { StateStore } from './base/store.ts';
import type { SeenFile } from './folder/file.ts';
import type { SyncedFolder } from './folder/folder.ts';
import type { VaultHub } from './hub.ts';
import type { LargeQueue } from './large-queue.ts';
import type { Scan } from './scan/scan.ts';

export interface SyncEvent {
  readonly verb: 'pulled' | 'pushed' | 'renamed' | 'merged' | 'removed' | 'deleted' | 'kept' | 'revived' | 'conflict';
  readonly path: string;
  /** Information or next step for the user. */
  readonly note?: string;
  /** Content bytes transferred. */
  readonly bytes?: number;
}

/** What a watch hears from the syncs of its folder. */
export interface SyncListener {
  /** Called with each folder that a scan is about to read, the root first with an empty path. */
  readonly onFolder: (path: string) => void;
  readonly onScan: (scan: Scan) => void;
  /** Called with each file that a sync wrote. */
  readonly onWritten: (seen: SeenFile) => void;
  /** The paths that the system reported since the last call, relative to the root; `all` when some may be missing. */
  readonly takeNoticed: () => ReadonlySet<string> | 'all';
  /** True when everything should be scanned again, although no report is known to be missing. */
  readonly isScanDue: () => boolean;
  /** True when more may have changed than the system has reported since the last `takeNoticed`. */
  readonly isMissing: () => boolean;
  /** True when a local change is waiting: small changes get a turn before the rest. */
  readonly isOverdue: () => boolean;
}

/** The copy of a vault in a folder, and its hub. */
export interface Replica {
  readonly folder: SyncedFolder;
  readonly hub: VaultHub;
  readonly state: StateStore;
  readonly large: LargeQueue;
  readonly tell: (event: SyncEvent) => void;
  readonly progress: (transfer: 'upload' | 'download', amount: Amount) => void;
  /** Undefined without a watch. */
  readonly listener?: SyncListener;
}
