/** Syncs a folder once: pull, then push, repeated while the hub changes in between. One process at a time. */
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { withFileLock } from '../file-lock.ts';
import { nextCommand } from '../next-command.ts';
import { Unreadable } from './folder/file.ts';
import { troublesOf } from './plan/troubles.ts';
import type { Replica } from './replica.ts';
import { type Round, type RoundDraft, runStep } from './round.ts';
import { keepLateWrites } from './run/keep-copy.ts';
import { pullChanges } from './run/pull.ts';
import { type PushOptions, pushChanges } from './run/push.ts';
import { sendSaves } from './run/saves.ts';
import { scanFiles } from './run/scan-files.ts';
import { LargeTransfers } from './run/transfers.ts';

/** Direction of a sync. */
export type Direction = 'pull' | 'both';

export interface SyncOptions extends PushOptions {
  readonly direction: Direction;
  /** Restores files missing here from the hub instead of deleting them there. */
  readonly restoreMissing: boolean;
  /** Retries changes that the hub refused earlier. */
  readonly retryRefused: boolean;
}

/** Runs one step on a draft of the next round. */
type Take = <T>(step: (draft: RoundDraft) => T | Promise<T>) => Promise<T>;

/**
 * Syncs once, after the round `before`; `keep` receives the round that each step leaves. Throws ClientError; completed
 * changes are kept, and the next sync continues from there.
 */
export async function syncOnce(
  replica: Replica,
  before: Round,
  options: SyncOptions,
  keep: (round: Round) => void,
): Promise<void> {
  let round = before;
  const take: Take = async (step) =>
    await runStep(round, step, (next) => {
      round = next;
      keep(next);
    });
  await lockFolder(replica, async () => {
    await begin(replica, round, options, take);
    for (let turns = 0; turns < limits.clientSyncRounds; ) {
      await turn(replica, options, take);
      if (round.isMore) continue;
      if (round.recheck.size + round.due.size === 0) break;
      turns += 1;
    }
    await replica.state.save();
    await take((draft) => listTroubles(replica, draft));
  });
}

/** What comes before the first turn: what earlier syncs left waiting. */
async function begin(replica: Replica, before: Round, options: SyncOptions, take: Take): Promise<void> {
  const { folder, state } = replica;
  const { direction, allowDeletes, restoreMissing, retryRefused, leavesLarge } = options;
  await take((draft) => {
    // What an earlier sync could not compare stays in `recheck`.
    for (const found of [draft.unmovable, draft.troubles]) found.clear();
    if (retryRefused) forgetRefused(replica, draft);
  });
  // The user's decision also covers the files of a filesystem that is no longer mounted.
  if (allowDeletes || restoreMissing) state.setMounts([]);
  if (restoreMissing) await take((draft) => forgetMissing(replica, draft));
  // While the hub is down, a watch copies saves by the rules of the last scan. A turn scans before it asks the hub; what
  // waits here asks earlier.
  const isFirst = leavesLarge && before.scan === undefined;
  if (isFirst && !(folder.asides.isEmpty && folder.saves.list().length === 0)) {
    await take((draft) => scanFiles(replica, draft));
  }
  await take((draft) => keepLateWrites(replica, draft));
  if (direction === 'both') await take((draft) => sendSaves(replica, draft));
}

/** One turn: scan, pull, and then push what a scan after the pull shows, earlier saves first. */
async function turn(replica: Replica, options: SyncOptions, take: Take): Promise<void> {
  const isPush = options.direction === 'both';
  await take((draft) => takeDue(replica, draft));
  const before = await take((draft) => scanFiles(replica, draft));
  await take((draft) => pullChanges(replica, draft, before, isPush ? 'merge' : 'leave'));
  if (isPush) {
    await take((draft) => sendSaves(replica, draft));
    const after = await take((draft) => scanFiles(replica, draft));
    await take((draft) => pushChanges(replica, draft, after, options));
  }
  if (!options.leavesLarge) await take((draft) => transferLarge(replica, draft));
}

/** Moves due paths to `recheck`, except those whose upload the hub has not answered yet. */
function takeDue({ large }: Replica, { due, recheck }: RoundDraft): void {
  for (const path of due) {
    if (large.isGoing(path)) continue;
    due.delete(path);
    recheck.add(path);
  }
}

/** Transfers the queued large files. */
async function transferLarge(replica: Replica, draft: RoundDraft): Promise<void> {
  const large = new LargeTransfers(replica, draft);
  try {
    await large.drained();
  } finally {
    large.close();
  }
}

/** Runs `work` while holding the lock of the folder. Throws RootGone. */
export async function lockFolder<T>({ folder, state }: Replica, work: () => Promise<T>): Promise<T> {
  folder.makeOwn();
  const locked = async () => {
    folder.hideFromGit();
    state.refresh();
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

function listTroubles({ folder, state, large }: Replica, draft: RoundDraft): void {
  for (const path of draft.recheck) draft.troubles.set(path, 'It kept changing on the hub; sync again.');
  const { unsent } = draft;
  const saved = unsent.size === 0 ? [] : folder.saves.list().filter(({ place }) => unsent.has(place));
  const found = troublesOf(draft, state, {
    root: folder.root.path,
    isComing: (path) => large.isComing(path),
    saved: new Set(saved.map(({ path }) => path)),
  });
  for (const [path, reason] of found) draft.troubles.set(path, reason);
}

function forgetRefused({ state }: Replica, { unsent }: RoundDraft): void {
  unsent.clear();
  for (const [path, { kind }] of state.waits) if (kind === 'push') state.endWait(path);
}

/** Removes files missing here from the base record, so that the pull treats them as new files on the hub. */
async function forgetMissing(replica: Replica, draft: RoundDraft): Promise<void> {
  const { folder, state } = replica;
  const { files, leavesOut } = await scanFiles(replica, draft);
  const missing = [...state.base.keys()].filter((path) => !files.has(path) && !leavesOut(path));
  if (missing.length > 0 && state.cursor === null)
    throw new ClientError(`this folder was never synced. Run \`${nextCommand(folder.root.path, 'sync')}\` first.`);
  for (const path of missing) {
    state.setBase(path, undefined);
    draft.recheck.add(path);
  }
  state.setInode(folder.root.inode);
  await state.save();
}
