/** Syncs a folder once: pull, then push, repeated while the hub changes in between. One process at a time. */
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { withFileLock } from '../file-lock.ts';
import { nextCommand } from '../next-command.ts';
import { Unreadable } from './folder/file.ts';
import type { FolderPath } from './folder/path.ts';
import { keepLateWrites } from './keep-copy.ts';
import { LargeTransfers } from './large/transfers.ts';
import { whyDamaged } from './pull/damaged.ts';
import { pullChanges } from './pull/pull.ts';
import { type PushOptions, pushChanges } from './push/push.ts';
import { sendSaves, withEarlierSaves } from './push/saves.ts';
import { type Replica, save, scan } from './replica.ts';
import { readState, stampOf } from './state-file.ts';

/** Direction of a sync. */
export type Direction = 'pull' | 'both';

export interface SyncOptions extends PushOptions {
  readonly direction: Direction;
  /** Restores files missing here from the hub instead of deleting them there. */
  readonly restoreMissing: boolean;
  /** Retries changes that the hub refused earlier. */
  readonly retryRefused: boolean;
  /** Only queues large files: the watch transfers them. */
  readonly leavesLarge: boolean;
}

/** Syncs once. Throws ClientError; completed changes are kept, and the next sync continues from there. */
export async function syncOnce(replica: Replica, options: SyncOptions): Promise<void> {
  await lockFolder(replica, async () => {
    replica.troubles.clear();
    // The user's decision also covers the files of a filesystem that is no longer mounted.
    if (options.allowDeletes || options.restoreMissing) replica.state.mounts = [];
    if (options.retryRefused) forgetRefused(replica);
    let recheck = options.restoreMissing ? await missingHere(replica) : new Set<FolderPath>();
    const unmovable = new Set<FolderPath>();
    // While the hub is down, a watch copies saves by the rules of the last scan. The pull scans before it asks the hub;
    // what waits below asks earlier.
    const { asides, saves } = replica.folder;
    const isFirst = options.leavesLarge && replica.scanned === undefined;
    if (isFirst && !(asides.isEmpty && saves.list().length === 0)) await scan(replica);
    await keepLateWrites(replica);
    if (options.direction === 'both') await sendSaves(replica);
    const large = new LargeTransfers(replica);
    try {
      for (let round = 0; round < limits.clientSyncRounds; ) {
        takeDue(replica, recheck);
        const isMore = await pullChanges(replica, recheck, options.direction === 'pull' ? 'leave' : 'merge');
        recheck = options.direction === 'pull' ? new Set() : await pushChanges(replica, options, unmovable);
        if (!options.leavesLarge) await large.drained();
        if (isMore) continue;
        if (recheck.size + replica.due.size === 0) break;
        round += 1;
      }
      await save(replica);
    } finally {
      large.close();
    }
    for (const path of recheck) replica.troubles.set(path, 'It kept changing on the hub; sync again.');
    listTroubles(replica);
  });
}

/** Moves due paths to `recheck`, except those whose upload the hub has not answered yet. */
function takeDue({ due, large }: Replica, recheck: Set<FolderPath>): void {
  for (const path of due) {
    if (large.isGoing(path)) continue;
    due.delete(path);
    recheck.add(path);
  }
}

/** Runs `work` while holding the lock of the folder. Throws RootGone. */
export async function lockFolder<T>(replica: Replica, work: () => Promise<T>): Promise<T> {
  const { folder } = replica;
  folder.makeOwn();
  const locked = async () => {
    folder.hideFromGit();
    const stamp = stampOf(folder.root.path);
    if (stamp !== replica.saved.stamp) {
      replica.state = readState(folder.root.path) ?? replica.state;
      replica.saved = { atMs: replica.saved.atMs, stamp };
    }
    return await work().catch((error: unknown) => {
      if (error instanceof Unreadable)
        throw new ClientError(`a file here cannot be read now; check its permissions. ${error.message}`);
      throw isOfSystem(error) ? new ClientError(`the folder cannot be read or written now (${error.message}).`) : error;
    });
  };
  return await withFileLock(folder.own('sync'), locked, { makesFolder: false });
}

/** System errors: a full disk, too many open files, a device that disappeared. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** Lists the paths that differ between both sides, each with its reason. Conflicts have a separate list. */
function listTroubles({ folder, state, troubles, scanned, large, damaged, unsent }: Replica): void {
  if (scanned === undefined) return;
  const { skipped, problems, leavesOut, excludes } = scanned;
  for (const [path, reason] of [...problems, ...skipped, ...state.foreign]) troubles.set(path, reason);
  for (const path of damaged.keys()) if (!excludes(path)) troubles.set(path, whyDamaged(folder.root.path, path));
  for (const [path, { kind, reason }] of state.waits) {
    const isOut = (kind === 'hub' && excludes(path)) || large.isComing(path);
    const isListed = troubles.has(path) || (leavesOut(path) && skipped.has(path));
    if (kind !== 'conflict' && !isOut && !isListed) troubles.set(path, reason);
  }
  if (unsent.size === 0) return;
  const waiting = folder.saves.list().filter(({ place }) => unsent.has(place));
  for (const path of new Set(waiting.map((save) => save.path))) {
    troubles.set(path, withEarlierSaves(troubles.get(path)));
  }
}

function forgetRefused({ state, unsent }: Replica): void {
  unsent.clear();
  for (const [path, { kind }] of state.waits) if (kind === 'push') state.waits.delete(path);
}

/** Removes files missing here from the base record, so that the pull treats them as new files on the hub. */
async function missingHere(replica: Replica): Promise<Set<FolderPath>> {
  const { files, leavesOut } = await scan(replica);
  const missing = new Set([...replica.state.base.keys()].filter((path) => !files.has(path) && !leavesOut(path)));
  if (missing.size > 0 && replica.state.cursor === null)
    throw new ClientError(
      `this folder was never synced. Run \`${nextCommand(replica.folder.root.path, 'sync')}\` first.`,
    );
  for (const path of missing) replica.state.base.delete(path);
  replica.state.inode = replica.folder.root.inode;
  await save(replica);
  return missing;
}
