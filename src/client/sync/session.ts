/** Owns one run over a synced folder: what it works on, and what it tells of what it did. */
import { limits } from '../../limits/service.ts';
import type { SyncedFolder } from './folder/folder.ts';
import type { FolderPath } from './folder/path.ts';
import { type Scan, scanFolder } from './folder/scan.ts';
import type { Amount, VaultHub } from './hub.ts';
import { keepCopy } from './keep-copy.ts';
import type { LargeQueue } from './large/queue.ts';
import type { SyncState } from './state.ts';
import { stampOf, writeState } from './state-file.ts';

type SyncVerb = 'pulled' | 'pushed' | 'renamed' | 'merged' | 'removed' | 'deleted' | 'kept' | 'revived' | 'conflict';

/** One thing that happened to one path. */
export interface SyncEvent {
  readonly verb: SyncVerb;
  readonly path: string;
  /** What a person should know or do. */
  readonly note?: string;
  /** Content bytes that went over the line. */
  readonly bytes?: number;
}

type Transfer = 'upload' | 'download';

export interface SyncSession {
  readonly folder: SyncedFolder;
  readonly hub: VaultHub;
  /** Read anew by each sync when another process wrote it. */
  state: SyncState;
  readonly tell: (event: SyncEvent) => void;
  /** Told while files go over the line. */
  readonly progress: (transfer: Transfer, amount: Amount) => void;
  /** What is wrong with single paths, each with its reason; made anew by each sync. */
  readonly troubles: Map<string, string>;
  readonly large: LargeQueue;
  /** Paths to compare with the hub in the next round, whatever the cursor says. */
  readonly due: Set<FolderPath>;
  /** Whether something changed here meanwhile: what is small has its turn before the rest. */
  isOverdue?: () => boolean;
  /** Files of which the hub's copy is damaged, with its hash: the same content sent again restores it. */
  readonly damaged: Map<FolderPath, string>;
  /** The last scan. */
  scanned?: Scan;
  /** Files that are gone here and are not deleted on the hub without the user's word. */
  readonly held: Set<FolderPath>;
  /** Inode of the folder that took the place of the one before and has got its new device id. */
  renewed?: number;
  /** The last save of the state: when, and how the file looked after it. */
  saved: { readonly atMs: number; readonly stamp: string | undefined };
}

/**
 * What takes part now, by the last hashes where they still hold. Names are put into NFC on the disk, so that one name means
 * one file from here on. Throws RootGone.
 */
export async function scan(session: SyncSession): Promise<Scan> {
  const { folder, state, tell } = session;
  let found = await scanFolder(folder, state);
  const why = 'another file differs from it only in Unicode form';
  const copied = [...found.twins].filter(([from, of]) => keepCopy(session, { from, of, why }));
  if (copied.length > 0) found = await scanFolder(folder, state);
  for (const [path, here] of found.otherForms) {
    const problem = putIntoNfc(folder, here, path);
    if (problem === undefined) {
      tell({ verb: 'renamed', path, note: 'its name now has the Unicode form that all devices share' });
      continue;
    }
    found.files.delete(path);
    found.skipped.set(path, problem);
  }
  session.scanned = found;
  state.mounts = found.mounts;
  return found;
}

/** Saves the state, and before it every file that it speaks of. Throws RootGone, ClientError. */
export async function save(session: SyncSession): Promise<void> {
  const { folder, state } = session;
  await folder.settle();
  writeState(folder, state);
  session.saved = { atMs: Date.now(), stamp: stampOf(folder.root.path) };
}

/** Saves where a crash would cost much work by now. */
export async function saveSometimes(session: SyncSession): Promise<void> {
  if (Date.now() - session.saved.atMs > limits.clientSaveMs) await save(session);
}

/** Undefined: it is done; else why it cannot be, in words for the user. */
function putIntoNfc(folder: SyncedFolder, here: string, path: FolderPath): string | undefined {
  try {
    return folder.rename(here, path) ? undefined : 'Another file has this name in another Unicode form.';
  } catch (error) {
    // A disk that takes no new name, or a path that may not be written: the rest is synced.
    return `Its name cannot be put into the Unicode form NFC: ${(error as Error).message}`;
  }
}
