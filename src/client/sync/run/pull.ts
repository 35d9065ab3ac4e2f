/** Pulls the changes of the hub into the folder. A file changed here is never overwritten. */
import { setImmediate } from 'node:timers/promises';
import { foldCase } from '../../../text/fold-case.ts';
import { isOutdated } from '../../tool-refused.ts';
import { Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import { pathsToCompare } from '../plan/pull-plan.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import { RULES_FILE } from '../scan/choice.ts';
import type { Scan } from '../scan/scan.ts';
import { arrivalsOf, noteLeftOut } from './arrivals.ts';
import { Inbox } from './inbox.ts';
import { type Reconcile, reconcilePaths } from './reconcile.ts';
import { Renames } from './renames.ts';
import { scanFiles } from './scan-files.ts';
import { settleWaitingNames } from './spelling.ts';
import { startOver } from './start-over.ts';

/**
 * Pulls until nothing is left, or stops early so that local changes are pushed first (`isMore`). Changes that cannot be
 * applied wait in the state.
 */
export async function pullChanges(step: SyncStep, scan: Scan, reconcile: Reconcile): Promise<void> {
  const renames = new Renames(step, reconcile);
  try {
    const local = await pullPages(step, scan, { reconcile, renames });
    await applyAll(step, local, await renames.finish(local), reconcile);
    await step.state.save();
  } finally {
    renames.leave();
  }
}

interface PullHow {
  readonly reconcile: Reconcile;
  readonly renames: Renames;
}

/** Pulls page by page. Resolves with the last scan. */
async function pullPages(step: SyncStep, scan: Scan, { reconcile, renames }: PullHow): Promise<Scan> {
  const { hub, state, listener } = step;
  // Before its first complete pull, a folder does not know which of its files are new.
  const mayStop = state.inode !== null && reconcile === 'merge';
  step.next.isMore = false;
  let local = scan;
  settleWaitingNames(step, local);
  await lookAgain(step, local, { reconcile, renames });
  step.next.recheck.clear();
  for (let more = true; more; ) {
    const inbox = new Inbox(step, local, { renames });
    try {
      const { cursor, own } = state;
      const ownUntil = own.at(-1)?.[1] ?? 0;
      const end = await hub.pull(
        { cursor, own },
        arrivalsOf(step, (record) => inbox.take(record)),
      );
      if (end.hasMore) await takeRules(step, inbox);
      await finish(step, inbox, reconcile);
      step.next.damaged.clear();
      noteLeftOut(step, local, end.leftOut);
      await applyAll(step, local, await renames.send(), reconcile);
      more = end.hasMore;
      // Set only after applying the page: a run that ends earlier pulls it again, and finds both sides equal.
      state.pulledTo(end.cursor, more ? state.own : state.own.filter(([, last]) => last > ownUntil));
    } catch (error) {
      if (!isOutdated(error)) throw error;
      await startOver(step, local, reconcile);
    }
    await state.save();
    await setImmediate();
    if (more && mayStop && listener?.isOverdue() === true) {
      step.next.isMore = true;
      return local;
    }
    if (more) local = await scanFiles(step);
  }
  return local;
}

/** Applies changes that turned out to be part of no rename. */
async function applyAll(
  step: SyncStep,
  local: Scan,
  records: readonly RemoteRecord[],
  reconcile: Reconcile,
): Promise<void> {
  if (records.length === 0) return;
  const inbox = new Inbox(step, local);
  // The pull may have brought other rules than the scan knows.
  inbox.readRules();
  for (const record of records) inbox.take(record);
  await finish(step, inbox, reconcile);
}

/** The newest rules come before the removes, which were made under them, although their change may be on a later page. */
async function takeRules(step: SyncStep, inbox: Inbox): Promise<void> {
  await inbox.ask();
  if (!inbox.wantsRules) return;
  const arrivals = arrivalsOf(step, (record) => inbox.take(record));
  await step.hub.pullPaths([RULES_FILE], { ...arrivals, progress: () => undefined }, { brief: false });
}

/** Applies what waits in an inbox, and merges: the rules first, because they decide which removes count. */
async function finish(step: SyncStep, inbox: Inbox, reconcile: Reconcile): Promise<void> {
  await inbox.ask();
  if (inbox.bothChanged.delete(RULES_FILE)) {
    await reconcilePaths(step, [RULES_FILE], reconcile);
    inbox.readRules();
  }
  inbox.finish();
  await inbox.reconcile(reconcile);
}

/** Compares the paths that the hub may not have changed since the last pull, and those that could not be settled. */
async function lookAgain(step: SyncStep, local: Scan, { reconcile, renames }: PullHow): Promise<void> {
  const { hub, state, large } = step;
  const due = pathsToCompare(local, state, {
    recheck: step.next.recheck,
    canWrite: (path) => canWrite(step, path),
    isComing: (path) => large.isComing(path),
    pausesAtMs: step.listener === undefined ? undefined : Date.now(),
  });
  // A restored hub may have lost what both sides agreed on: the pull finds that as well, and starts over.
  if (due.size === 0 || !(await hub.knows(state))) return;
  const inbox = new Inbox(step, local, { renames });
  // The hub answers in its own spelling of a name.
  const gone = new Map([...due].map((path) => [foldCase(path), path]));
  const take = (record: RemoteRecord) => {
    gone.delete(foldCase(record.path));
    inbox.take(record);
  };
  const arrivals = arrivalsOf(step, take);
  const damaged = (record: RemoteRecord) => {
    // It exists on the hub, so it is not deleted.
    gone.delete(foldCase(record.path));
    arrivals.damaged(record);
  };
  const leftOut = await hub.pullPaths([...due], { ...arrivals, damaged }, { brief: true });
  for (const path of leftOut.keys()) gone.delete(foldCase(path));
  noteLeftOut(step, local, leftOut);
  for (const path of gone.values()) inbox.take({ path, side: undefined, storedMs: 0 });
  await takeRules(step, inbox);
  await finish(step, inbox, reconcile);
  await applyAll(step, local, await renames.send(), reconcile);
  await state.save();
}

function canWrite({ folder }: Replica, path: FolderPath): boolean {
  try {
    return folder.blocked(path) === undefined && folder.mayChange(path);
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}
