/** Pulls the changes of the hub into the folder. A file changed here is never overwritten. */
import { setImmediate } from 'node:timers/promises';
import { foldCase } from '../../../text/fold-case.ts';
import { isOutdated } from '../../tool-refused.ts';
import { Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../folder/scan.ts';
import type { RemoteRecord } from '../remote-record.ts';
import { type Replica, save, scan } from '../replica.ts';
import { settleWaitingNames } from '../spelling.ts';
import { isAgreedSide } from '../state.ts';
import { arrivalsOf } from './arrivals.ts';
import { noteLeftOut } from './damaged.ts';
import { Inbox } from './inbox.ts';
import { type Reconcile, reconcilePaths } from './reconcile.ts';
import { startOver } from './start-over.ts';

/**
 * Pulls until nothing is left. Resolves with true when it stopped early so that local changes are pushed first. Changes
 * that cannot be applied wait in the state. `recheck`: paths to compare regardless of the cursor.
 */
export async function pullChanges(
  replica: Replica,
  recheck: Iterable<FolderPath>,
  reconcile: Reconcile,
): Promise<boolean> {
  const { hub, state } = replica;
  // Before its first complete pull, a folder does not know which of its files are new.
  const mayStop = state.inode !== null && reconcile === 'merge';
  let local = await scan(replica);
  settleWaitingNames(replica, local);
  await lookAgain(replica, local, recheck, reconcile);
  for (let more = true; more; ) {
    const inbox = new Inbox(replica, local);
    try {
      const { cursor, own } = state;
      const ownUntil = own.at(-1)?.[1] ?? 0;
      const end = await hub.pull(
        { cursor, own },
        arrivalsOf(replica, (record) => inbox.take(record)),
      );
      inbox.finish();
      replica.damaged.clear();
      noteLeftOut(replica, local, end.leftOut);
      await reconcilePaths(replica, inbox.bothChanged, reconcile);
      // Set only after applying the page: a run that ends earlier pulls it again, and finds both sides equal.
      state.cursor = end.cursor;
      more = end.hasMore;
      if (!more) state.own = state.own.filter(([, last]) => last > ownUntil);
    } catch (error) {
      if (!isOutdated(error)) throw error;
      await startOver(replica, local, reconcile);
    }
    await save(replica);
    await setImmediate();
    if (more && mayStop && replica.isOverdue?.() === true) return true;
    if (more) local = await scan(replica);
  }
  return false;
}

/** Compares waiting paths again when they are no longer left out or either side has changed. */
async function lookAgain(
  replica: Replica,
  local: Scan,
  recheck: Iterable<FolderPath>,
  reconcile: Reconcile,
): Promise<void> {
  const { hub, state } = replica;
  const due = new Set<FolderPath>(recheck);
  for (const [path, wait] of state.waits) {
    if (local.leavesOut(path)) continue;
    if (wait.kind === 'hub' && canWrite(replica, path)) due.add(path);
    if (wait.kind === 'download' && !replica.large.isComing(path)) due.add(path);
    if (wait.kind !== 'conflict') continue;
    const isEdited = (local.files.get(path)?.sha256 ?? null) !== wait.local;
    if (isEdited || isAgreedSide(state, path, wait.local)) due.add(path);
  }
  // A restored hub may have lost what both sides agreed on: the pull finds that as well, and starts over.
  if (due.size === 0 || !(await hub.knows(state))) return;
  const inbox = new Inbox(replica, local);
  // The hub answers in its own spelling of a name.
  const gone = new Map([...due].map((path) => [foldCase(path), path]));
  const take = (record: RemoteRecord) => {
    gone.delete(foldCase(record.path));
    inbox.take(record);
  };
  const arrivals = arrivalsOf(replica, take);
  const damaged = (record: RemoteRecord) => {
    // It exists on the hub, so it is not deleted.
    gone.delete(foldCase(record.path));
    arrivals.damaged(record);
  };
  const leftOut = await hub.pullPaths([...due], { ...arrivals, damaged }, { brief: true });
  for (const path of leftOut.keys()) gone.delete(foldCase(path));
  noteLeftOut(replica, local, leftOut);
  for (const path of gone.values()) inbox.take({ path, side: undefined, storedMs: 0 });
  inbox.finish();
  await reconcilePaths(replica, inbox.bothChanged, reconcile);
  await save(replica);
}

function canWrite({ folder }: Replica, path: FolderPath): boolean {
  try {
    return folder.blocked(path) === undefined && folder.mayChange(path);
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}
