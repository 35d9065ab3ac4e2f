/**
 * Syncs a folder continuously: after a local change, after a change on the hub, and at intervals. An error is reported
 * at once and retried after growing pauses; one that no retry can fix ends the loop.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../limits/service.ts';
import { ClientError, NotSignedIn } from '../../client-error.ts';
import { isOutdated } from '../../tool-refused.ts';
import type { SeenFile } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import { RootGone } from '../folder/root.ts';
import { RoundEnded, VaultGone } from '../hub.ts';
import { backoffMs, firstTriedAgainMs, isRestless, longestWaitMs, pauseAfterIdleMs } from '../plan/waits.ts';
import type { Replica, SyncEvent, SyncListener } from '../replica.ts';
import { newRound, type Round } from '../round.ts';
import { Bell } from '../run/bell.ts';
import { LargeTransfers } from '../run/transfers.ts';
import type { Scan } from '../scan/scan.ts';
import { DiskWatch } from './disk.ts';
import { Keeper } from './keeper.ts';
import { blindSentence } from './reports.ts';
import { startKeeper } from './start-keeper.ts';

export interface Watch {
  /** Runs one sync after a round; called repeatedly, never twice at once. `keep` receives the rounds that it leaves. */
  readonly syncNow: (replica: Replica, round: Round, keep: (next: Round) => void) => Promise<void>;
  /** Reports once that the folder has been read: from now on, changes are noticed. */
  readonly onReady: () => void;
  /** Reports a temporary error; the watch retries after this number of milliseconds. */
  readonly onTrouble: (error: Error, retryMs: number) => void;
  /** Reports once that not every local change is noticed at once. */
  readonly onBlind: (sentence: string) => void;
  /** Reports a file of which not each save is kept while they cannot be sent. */
  readonly onLost: (sentence: string) => void;
  /** Reports the first success after an error. */
  readonly onWell: () => void;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the last round when aborted. Throws errors that no retry can fix: a missing folder or vault, a revoked
 * sign-in.
 */
export async function watchFolder(
  unwatched: Replica,
  { syncNow, onReady, onTrouble, onBlind, onLost, onWell, signal }: Watch,
): Promise<Round> {
  const { folder, state } = unwatched;
  let round: Round = newRound();
  const keep = (next: Round) => {
    round = next;
  };
  const changes = new Bell();
  signal.addEventListener('abort', () => changes.ring(), { once: true });
  const keeper = new Keeper(
    unwatched,
    { isRestless: (path) => isRestless(round.sends, path, Date.now()), onLost, onReady },
    startKeeper,
  );
  let scan: Scan | undefined;
  const disk = new DiskWatch(folder.root.path, {
    ...knownBy(state, () => scan),
    changes,
    keeper,
    onBlind: (blind) => onBlind(blindSentence(blind)),
  });
  const onScan = (found: Scan) => {
    scan = found;
    if (found.looked === undefined) disk.endScan();
    keeper.noteScan(found);
    large.follow(found);
  };
  const onWritten = (seen: SeenFile) => keeper.noteWritten(seen);
  const listener = { ...hearing(disk, changes), onScan, onWritten };
  let told = 0;
  const tell = (event: SyncEvent) => {
    told += 1;
    unwatched.tell(event);
  };
  const replica: Replica = { ...unwatched, tell, listener };
  const large = new LargeTransfers({ ...replica, next: newRound() });
  let failures = 0;
  const reports = reporting({ onTrouble, onWell });
  let idle = 0;
  let isAsked = true;
  try {
    while (!signal.aborted) {
      try {
        const before = { told, cursor: state.cursor };
        changes.silence();
        keep(large.reportTo(round));
        await syncNow(replica, round, keep);
        const isIdle = !isAsked && told === before.told && state.cursor === before.cursor;
        idle = isIdle ? idle + 1 : 0;
        reports.synced(large, failures > 0);
        failures = 0;
        const endedMs = performance.now();
        isAsked = await untilDue(replica, round, { changes, disk, large }, signal);
        const restMs = pauseAfterIdleMs(idle) - (performance.now() - endedMs);
        if (!isAsked && restMs > 0) await Promise.race([changes.rung(), pause(restMs, signal)]);
      } catch (error) {
        if (signal.aborted) return round;
        if (error instanceof RoundEnded) continue;
        const retryMs = backoffMs(failures);
        failures += 1;
        reports.failed(error as Error, retryMs);
        await pause(retryMs, signal);
      }
    }
  } finally {
    large.close();
    await keeper.close();
    disk.close();
  }
  return round;
}

/** What the last scan and the state tell of paths, to know changes of the user from those of a sync. */
const knownBy = (state: Replica['state'], scan: () => Scan | undefined) => ({
  excludes: (path: string) => scan()?.excludes(path as FolderPath) === true,
  seenOf: (path: string) => state.base.get(path as FolderPath)?.seen,
  knowsFolder: (path: string) => scan()?.folders.has(path) === true,
});

function hearing(disk: DiskWatch, changes: Bell): Omit<SyncListener, 'onScan' | 'onWritten'> {
  return {
    onFolder: (path) => disk.visit(path),
    takeNoticed: () => disk.takeNoticed(),
    isScanDue: () => disk.isScanDue,
    isMissing: () => disk.isMissing,
    isOverdue: () => changes.isRung,
  };
}

/** Tells errors, and the first success after one. */
function reporting({ onTrouble, onWell }: Pick<Watch, 'onTrouble' | 'onWell'>) {
  let isTroubled = false;
  /** Throws an error that no retry can fix. */
  const failed = (error: Error, retryMs: number) => {
    if (isFinal(error)) throw error;
    isTroubled = true;
    onTrouble(error, Math.max(0, retryMs));
  };
  /** After a sync that came to its end: small files go on while a large one cannot be transferred. */
  const synced = (large: LargeTransfers, hadFailed: boolean) => {
    // What ended this may have ended transfers.
    if (hadFailed) large.tryAgain();
    large.forgetUnwanted();
    if (large.failing !== undefined) failed(whyNotTransferred(large.failing), large.restsUntilMs - Date.now());
    else if (isTroubled) {
      isTroubled = false;
      onWell();
    }
  };
  return { failed, synced };
}

function whyNotTransferred(error: Error): Error {
  return isFinal(error) ? error : new ClientError(`a large file is not transferred now: ${error.message}`);
}

function isFinal(error: unknown): boolean {
  return error instanceof RootGone || error instanceof NotSignedIn || error instanceof VaultGone;
}

/**
 * Resolves when a sync is due: local changes have settled, transfers have ended, the hub has changes, or the last sync was long
 * ago. True for the first two reasons.
 */
async function untilDue(
  { folder, hub, state, large: queue }: Replica,
  { due, restsUntilMs, fullScan }: Round,
  { changes, disk, large }: { readonly changes: Bell; readonly disk: DiskWatch; readonly large: LargeTransfers },
  signal: AbortSignal,
): Promise<boolean> {
  const { cursor } = state;
  const fromMs = performance.now();
  if (large.hasDue || [...due].some((path) => !queue.isGoing(path))) return changes.isRung;
  large.start();
  if (fullScan !== undefined) return true;
  const asking = new AbortController();
  const nowMs = Date.now();
  const againMs = large.restsUntilMs > nowMs ? large.restsUntilMs : Number.POSITIVE_INFINITY;
  const dueMs = Math.min(restsUntilMs, againMs, firstTriedAgainMs(state.waits.values(), nowMs));
  const view = { isBlind: disk.isBlind, hasAsides: !folder.asides.isEmpty, restsUntilMs: dueMs };
  const longestMs = longestWaitMs(view, nowMs);
  const longAgo = sleep(longestMs, undefined, { signal: asking.signal }).catch(() => undefined);
  const ask = async () => {
    while (cursor !== null && !asking.signal.aborted) {
      const askedMs = performance.now();
      if (await hub.hasNews({ cursor, own: state.own }, limits.clientWaitSeconds, asking.signal)) return;
      // A hub with too many waiting requests answers at once.
      await pause(limits.clientNewsMs - (performance.now() - askedMs), asking.signal);
    }
    if (cursor === null) await longAgo;
  };
  const news = ask().catch((error: unknown) => {
    // A restored hub has changes too; the sync handles the restore.
    if (!asking.signal.aborted && !isOutdated(error)) throw error;
  });
  try {
    await Promise.race([changes.rung(), news, longAgo, large.ended()]);
  } finally {
    asking.abort();
  }
  const hasEnded = large.takeNote();
  // Each sync scans the whole folder: news in quick succession are taken together.
  if (!changes.isRung) await pause(limits.clientNewsGapMs - (performance.now() - fromMs), signal);
  // Lets a program finish that saves in several steps.
  const isAsked = changes.isRung || hasEnded;
  const untilMs = Date.now() + limits.clientQuietMsMax;
  while (changes.isRung && !signal.aborted && Date.now() < untilMs) {
    changes.silence();
    await pause(limits.clientQuietMs, signal);
  }
  return isAsked;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Aborted early: no cleanup is needed.
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
