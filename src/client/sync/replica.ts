/** Defines the replica of a vault in a folder, with everything that a sync knows about it; scans the folder and saves the state. */
import { limits } from '../../limits/service.ts';
import type { SyncedFolder } from './folder/folder.ts';
import { takePartAgain } from './folder/left-out.ts';
import type { FolderPath } from './folder/path.ts';
import { type Scan, scanFolder } from './folder/scan.ts';
import type { Amount, VaultHub } from './hub.ts';
import { keepCopy } from './keep-copy.ts';
import type { LargeQueue } from './large/queue.ts';
import type { Restless } from './push/restless.ts';
import type { SyncState, Wait } from './state.ts';
import { type Stored, writeState } from './state-file.ts';

type SyncVerb = 'pulled' | 'pushed' | 'renamed' | 'merged' | 'removed' | 'deleted' | 'kept' | 'revived' | 'conflict';

/** One event at one path. */
export interface SyncEvent {
  readonly verb: SyncVerb;
  readonly path: string;
  /** Information or next step for the user. */
  readonly note?: string;
  /** Content bytes transferred. */
  readonly bytes?: number;
}

type Transfer = 'upload' | 'download';

/** The copy of a vault in a folder, and its hub. */
export interface Replica {
  readonly folder: SyncedFolder;
  readonly hub: VaultHub;
  /** Reloaded by each sync if another process wrote it. */
  state: SyncState;
  readonly tell: (event: SyncEvent) => void;
  /** Reports progress during transfers. */
  readonly progress: (transfer: Transfer, amount: Amount) => void;
  /** Problems of single paths, each with its reason; rebuilt by each sync. */
  readonly troubles: Map<string, string>;
  readonly large: LargeQueue;
  /** Paths to compare with the hub in the next round, regardless of the cursor. */
  readonly due: Set<FolderPath>;
  /** True when a local change is waiting: small changes get a turn before the rest. */
  isOverdue?: () => boolean;
  /** Set by a watch: large files to which programs keep writing. */
  restless?: Restless;
  /** Called with each folder that a scan is about to read, the root first with an empty path. */
  onFolder?: (path: string) => void;
  /** Called after each scan. */
  onScan?: () => void;
  /** Files whose copy on the hub is damaged, with its hash: sending the same content again restores it. */
  readonly damaged: Map<FolderPath, string>;
  /** Contents that this process sent as conflict copies: name of the copy, by path and hash. */
  readonly copies: Map<string, FolderPath>;
  /** Copies of saves for which the hub had no room, by their place: retried with the refused changes. */
  readonly unsent: Set<string>;
  /** The last scan. */
  scanned?: Scan;
  /** Files missing here that are not deleted on the hub without the user's confirmation. */
  readonly held: Set<FolderPath>;
  /** Inode of the replaced folder that already has its new device id. */
  renewed?: number;
  /** The last save of the state, and its time. */
  saved: Stored & { readonly atMs: number };
}

const TAKES_PART_AGAIN: Wait = {
  kind: 'hub',
  remote: null,
  local: null,
  conflictId: null,
  reason: 'It takes part again and is compared with the hub by the next sync.',
};

/**
 * Scans the folder, reusing hashes that are still valid. Renames files to NFC on the disk, so that one name means one
 * file afterwards. Throws RootGone.
 */
export async function scan(replica: Replica): Promise<Scan> {
  const { folder, state, tell, due } = replica;
  let found = await scanFolder(folder, state, replica.onFolder);
  const why = 'another file differs from it only in Unicode form';
  const copied = [...found.twins].filter(([from, of]) => keepCopy(replica, { from, of, why }));
  if (copied.length > 0) found = await scanFolder(folder, state, replica.onFolder);
  for (const [path, here] of found.otherForms) {
    const problem = putIntoNfc(folder, here, path);
    if (problem === undefined) {
      tell({ verb: 'renamed', path, note: 'its name now has the Unicode form that all devices share' });
      continue;
    }
    found.files.delete(path);
    found.skipped.set(path, problem);
  }
  keepSeen(found, state);
  for (const path of takePartAgain(found, state)) {
    due.add(path);
    if (state.waits.get(path)?.kind !== 'conflict') state.waits.set(path, TAKES_PART_AGAIN);
  }
  replica.scanned = found;
  state.mounts = found.mounts;
  replica.onScan?.();
  return found;
}

/**
 * Keeps the metadata of files that were hashed again and are the same: a file is written or sent right after its last
 * change, when that tells nothing yet, and would be hashed by every later scan.
 */
function keepSeen({ files }: Scan, { base }: SyncState): void {
  for (const [path, { sha256, seen }] of files) {
    const record = base.get(path);
    if (record?.sha256 === sha256 && record.seen !== seen) base.set(path, { ...record, seen });
  }
}

/** Saves the state, after flushing every file it refers to. Throws RootGone, ClientError. */
export async function save(replica: Replica): Promise<void> {
  const { folder, state } = replica;
  await folder.settle();
  replica.saved = { atMs: Date.now(), ...writeState(folder, state, replica.saved) };
}

/** Saves the state if the last save was long ago, so that a crash costs little work. */
export async function saveSometimes(replica: Replica): Promise<void> {
  if (Date.now() - replica.saved.atMs > limits.clientSaveMs) await save(replica);
}

/** Renames a file to NFC. Returns undefined, or the reason for the user when it failed. */
function putIntoNfc(folder: SyncedFolder, here: string, path: FolderPath): string | undefined {
  try {
    return folder.rename(here, path) ? undefined : 'Another file has this name in another Unicode form.';
  } catch (error) {
    // The disk rejects the new name, or the path is not writable: the other files are synced.
    return `Its name cannot be put into the Unicode form NFC: ${(error as Error).message}`;
  }
}
