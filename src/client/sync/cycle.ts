/** Syncs a folder once: pull, then push, repeated while the hub changes in between. One process at a time. */
import { basename } from 'node:path';
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { withFileLock } from '../file-lock.ts';
import { nextCommand } from '../next-command.ts';
import { heldFromHub } from './base/state.ts';
import { Unreadable } from './folder/file.ts';
import { keepReplaced, placeOfReplaced } from './folder/replaced.ts';
import type { Allows } from './plan/guard.ts';
import { troublesOf } from './plan/troubles.ts';
import type { Replica } from './replica.ts';
import { compareNow, type Round, runStep, type SyncStep } from './round.ts';
import { takeRulesFirst } from './run/first-rules.ts';
import { keepLateWrites } from './run/keep-copy.ts';
import { pullChanges } from './run/pull.ts';
import { type PushRules, pushChanges } from './run/push.ts';
import { endSaves, sendSaves } from './run/saves.ts';
import { scanFiles } from './run/scan-files.ts';
import { LargeTransfers } from './run/transfers.ts';

export type Direction = 'pull' | 'both';

export interface SyncRules extends PushRules, Allows {
  readonly direction: Direction;
  /** Restores files missing here from the hub instead of deleting them there. */
  readonly restoreMissing: boolean;
  /** Restores the hub's versions of files rewritten here; the ones here are kept in `.cairn/replaced`. */
  readonly restoreRewritten: boolean;
  /** Sends what is here again where changes of the hub are held back. */
  readonly sendBack: boolean;
  readonly retryRefused: boolean;
  /** Called before the first push of a folder, once the shared rules of the vault are here. */
  readonly beforeFirstPush?: (replica: Replica) => Promise<void>;
}

/** Runs one step after the last one. */
type Take = <T>(work: (step: SyncStep) => T | Promise<T>) => Promise<T>;

/**
 * Syncs once, after the round `before`; `keep` receives the round that each step leaves. Throws ClientError; completed
 * changes are kept, and the next sync continues from there.
 */
export async function syncOnce(
  replica: Replica,
  before: Round,
  options: SyncRules,
  keep: (round: Round) => void,
): Promise<void> {
  let round = before;
  const take: Take = async (work) =>
    await runStep(replica, round, work, (next) => {
      round = next;
      keep(next);
    });
  await lockFolder(replica, async (isOther) => {
    // The last scan was compared with another state.
    if (isOther) round = { ...before, scan: undefined, fullScan: undefined };
    replica.state.beginSync();
    await begin(replica, round, options, take);
    let goesOn = true;
    for (let turns = 0; turns < limits.clientSyncRounds; ) {
      await turn(options, take, goesOn);
      // What the first turn found is finished before a scan of everything goes on.
      goesOn = false;
      if (round.isMore) continue;
      // What is being sent is compared once the hub has answered.
      if (round.recheck.size === 0 && [...round.due].every((path) => replica.large.isGoing(path))) break;
      turns += 1;
    }
    forgetDecided(replica, options);
    dropParts(replica);
    await replica.state.save();
    if (options.direction === 'both') await take(endSaves);
    await take(listTroubles);
  });
}

/** What comes before the first turn: what earlier syncs left waiting. */
async function begin(replica: Replica, before: Round, options: SyncRules, take: Take): Promise<void> {
  const { folder, state } = replica;
  const { direction, allowDeletes, restoreMissing, restoreRewritten, retryRefused, leavesLarge, beforeFirstPush } =
    options;
  await take((step) => {
    // What an earlier sync could not compare stays in `recheck`.
    for (const found of [step.next.unmovable, step.next.troubles]) found.clear();
    if (retryRefused) forgetRefused(step);
    settleHeld(step, options);
  });
  await take(takeRulesFirst);
  if (state.inode === null && direction === 'both') await beforeFirstPush?.(replica);
  // The user's decision also covers the files of a filesystem that is no longer mounted.
  if (allowDeletes || restoreMissing) state.setMounts([]);
  if (restoreMissing) await take(forgetMissing);
  if (restoreRewritten) await take(giveUpRewritten);
  // While the hub is down, a watch copies saves by the rules of the last scan. A turn scans before it asks the hub; what
  // waits here asks earlier.
  const isFirst = leavesLarge && before.scan === undefined;
  if (isFirst && !(folder.asides.isEmpty && folder.saves.list().length === 0)) {
    await take((step) => scanFiles(step));
  }
  await take(keepLateWrites);
  if (direction === 'both') await take(sendSaves);
}

/** One turn: scan, pull, and then push what a scan after the pull shows, earlier saves first. */
async function turn(options: SyncRules, take: Take, goesOn: boolean): Promise<void> {
  const isPush = options.direction === 'both';
  await take(takeDue);
  const before = await take((step) => scanFiles(step, { goesOn }));
  await take((step) => pullChanges(step, before, isPush ? 'merge' : 'leave'));
  if (isPush) {
    await take(sendSaves);
    const after = await take((step) => scanFiles(step));
    await take((step) => pushChanges(step, after, options));
  }
  if (!options.leavesLarge) await take(transferLarge);
}

/** Moves due paths to `recheck`, except those whose upload the hub has not answered yet. */
function takeDue({ large, next: { due, recheck } }: SyncStep): void {
  for (const path of due) {
    if (large.isGoing(path)) continue;
    due.delete(path);
    recheck.add(path);
  }
}

async function transferLarge(step: SyncStep): Promise<void> {
  const large = new LargeTransfers(step);
  try {
    await large.drained();
  } finally {
    large.close();
  }
}

/** Runs `work` while holding the lock of the folder; tells it whether another process wrote the state. Throws RootGone. */
export async function lockFolder<T>({ folder, state }: Replica, work: (isOther: boolean) => Promise<T>): Promise<T> {
  folder.makeOwn();
  const locked = async () => {
    folder.hideFromGit();
    return await work(state.refresh()).catch((error: unknown) => {
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

function listTroubles({ folder, state, large, next, listener }: SyncStep): void {
  for (const path of next.recheck)
    next.troubles.set(path, 'It kept changing on the hub; the next sync compares it again.');
  const { unsent } = next;
  const saved = unsent.size === 0 ? [] : folder.saves.list().filter(({ place }) => unsent.has(place));
  const found = troublesOf(next, state, {
    root: folder.root.path,
    isMoving: (path) => large.isComing(path) || large.isGoing(path),
    saved: new Set(saved.map(({ path }) => path)),
    // A watch tells this at once, and its status as well.
    lost: listener === undefined ? folder.saves.lost() : [],
  });
  for (const [path, reason] of found) next.troubles.set(path, reason);
}

/** Removes downloads of versions that are no longer wanted. */
function dropParts({ folder, state, large }: Replica): void {
  if (large.downloading.size > 0) return;
  folder.dropParts((sha256) => [...state.waits.values()].some(({ remote }) => remote === sha256));
}

/** Ends the guard's hold on changes of the hub: those that the user confirmed are compared, or the files here are sent. */
function settleHeld(step: SyncStep, rules: SyncRules): void {
  const { state, next } = step;
  const { allowDeletes, allowRewrites, restoreRewritten, sendBack } = rules;
  next.allows = {
    allowDeletes: allowDeletes || sendBack,
    allowRewrites: allowRewrites || restoreRewritten || sendBack,
  };
  for (const [path, what] of heldFromHub(state)) {
    if (!sendBack && !(what === 'deleted' ? allowDeletes : allowRewrites)) continue;
    const remote = state.waits.get(path)?.remote ?? null;
    state.endWait(path);
    if (sendBack) state.setBase(path, remote === null ? undefined : { sha256: remote });
    else compareNow(step, path);
  }
}

/** Begins to count again what the user has decided about. */
function forgetDecided({ state }: Replica, options: SyncRules): void {
  const { allowDeletes, allowRewrites, restoreMissing, restoreRewritten, sendBack } = options;
  if (!(allowDeletes || allowRewrites || restoreMissing || restoreRewritten || sendBack)) return;
  state.forgetRecent(
    ({ what }) =>
      (what !== 'rewritten' && (allowDeletes || restoreMissing || sendBack)) ||
      (what === 'rewritten' && (allowRewrites || restoreRewritten || sendBack)),
  );
}

/** Gives up the files rewritten here and not sent: the pull takes the hub's side, and the ones here are kept beside. */
async function giveUpRewritten(step: SyncStep): Promise<void> {
  const { folder, state, tell } = step;
  const { files, leavesOut } = await scanFiles(step);
  const place = placeOfReplaced(Date.now());
  const saves = folder.saves.list();
  for (const [path, here] of files) {
    const base = state.base.get(path);
    if (base === undefined || base.sha256 === here.sha256 || leavesOut(path) || state.waits.has(path)) continue;
    keepReplaced(folder, path, `${place}/${path}`);
    // As versions they would come before the hub's.
    for (const save of saves.filter((one) => one.path === path)) {
      keepReplaced(folder, save.place, `${place}/${basename(save.place)}/${path}`);
      save.drop();
    }
    tell({ verb: 'kept', path, note: `the one here is in ${place}` });
    state.setBase(path, { ...base, sha256: here.sha256, seen: undefined });
    compareNow(step, path);
  }
  await state.save();
}

function forgetRefused({ state, next }: SyncStep): void {
  next.unsent.clear();
  for (const [path, { kind, isUnsent }] of state.waits) {
    if (kind === 'push') state.endWait(path);
    else if (isUnsent === true) next.recheck.add(path);
  }
}

/** Removes files missing here from the base record, so that the pull treats them as new files on the hub. */
async function forgetMissing(step: SyncStep): Promise<void> {
  const { folder, state } = step;
  const { files, leavesOut } = await scanFiles(step);
  const missing = [...state.base.keys()].filter((path) => !files.has(path) && !leavesOut(path));
  if (missing.length > 0 && state.cursor === null)
    throw new ClientError(`this folder was never synced. Run \`${nextCommand(folder.root.path, 'sync')}\` first.`);
  for (const path of missing) {
    state.setBase(path, undefined);
    compareNow(step, path);
  }
  state.setInode(folder.root.inode);
  await state.save();
}
