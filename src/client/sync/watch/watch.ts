/**
 * Syncs a folder continuously: after a local change, after a change on the hub, and at intervals. An error is reported
 * at once and retried after growing pauses; one that no retry can fix ends the loop.
 */
import type { Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../limits/service.ts';
import { NotSignedIn } from '../../not-signed-in.ts';
import { isOutdated } from '../../tool-refused.ts';
import { isAsSeen } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import { RootGone } from '../folder/root.ts';
import { VaultGone } from '../hub.ts';
import { LargeTransfers } from '../large/transfers.ts';
import { Restless } from '../push/restless.ts';
import type { Replica } from '../replica.ts';
import { Bell } from './bell.ts';
import { DiskWatch } from './disk.ts';
import { Keeper } from './keeper.ts';

export interface Watch {
  /** Runs one sync; called repeatedly, never twice at once. */
  readonly syncNow: () => Promise<void>;
  /** Reports once that the folder has been read: from now on, changes are noticed. */
  readonly onReady: () => void;
  /** Reports a temporary error; the watch retries after this number of milliseconds. */
  readonly onTrouble: (error: Error, retryMs: number) => void;
  /** Reports once that not every local change is noticed at once. */
  readonly onBlind: (sentence: string) => void;
  /** Reports the first success after an error. */
  readonly onWell: () => void;
  readonly signal: AbortSignal;
}

/** Resolves when aborted. Throws errors that no retry can fix: a missing folder or vault, a revoked sign-in. */
export async function watchFolder(
  replica: Replica,
  { syncNow, onReady, onTrouble, onBlind, onWell, signal }: Watch,
): Promise<void> {
  const changes = new Bell();
  signal.addEventListener('abort', () => changes.ring(), { once: true });
  const keeper = new Keeper(replica);
  const excludes = (path: string) => replica.scanned?.excludes(path as FolderPath) === true;
  const isSynced = (path: string, stats: Stats) => {
    const seen = replica.state.base.get(path as FolderPath)?.seen;
    return seen !== undefined && isAsSeen(stats, seen);
  };
  const disk = new DiskWatch(replica.folder.root.path, { changes, keeper, excludes, isSynced, onBlind });
  const large = new LargeTransfers(replica);
  replica.isOverdue = () => changes.isRung;
  let isReady = false;
  replica.onFolder = (path) => disk.visit(path);
  replica.onScan = () => {
    disk.endScan();
    keeper.noteScan();
    if (!isReady) onReady();
    isReady = true;
  };
  replica.restless = new Restless();
  let failures = 0;
  try {
    while (!signal.aborted) {
      try {
        changes.silence();
        await syncNow();
        if (failures > 0) onWell();
        failures = 0;
        await untilDue(replica, { changes, disk, large }, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (isFinal(error)) throw error;
        const retryMs = Math.min(limits.clientRetryMs * 2 ** failures, limits.clientRetryMsMax);
        failures += 1;
        onTrouble(error as Error, retryMs);
        await pause(retryMs, signal);
      }
    }
  } finally {
    large.close();
    keeper.close();
    disk.close();
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof RootGone || error instanceof NotSignedIn || error instanceof VaultGone;
}

/** Resolves when a sync is due: local changes have settled, the hub has changes, or the last sync was long ago. */
async function untilDue(
  { folder, hub, state, due, restless, large: queue }: Replica,
  { changes, disk, large }: { readonly changes: Bell; readonly disk: DiskWatch; readonly large: LargeTransfers },
  signal: AbortSignal,
): Promise<void> {
  const { cursor } = state;
  const fromMs = performance.now();
  if ([...due].some((path) => !queue.isGoing(path))) return;
  large.start();
  const asking = new AbortController();
  // A program may write to a file moved aside, and no event reports that.
  const rescanMs = disk.isBlind ? limits.clientBlindRescanMs : limits.clientRescanMs;
  const longestMs = Math.min(folder.asides.isEmpty ? rescanMs : limits.clientAsideMs, restless?.dueInMs() ?? rescanMs);
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
  large.takeNote();
  // Each sync scans the whole folder: news in quick succession are taken together.
  if (!changes.isRung) await pause(limits.clientNewsGapMs - (performance.now() - fromMs), signal);
  // Lets a program finish that saves in several steps.
  const untilMs = Date.now() + limits.clientQuietMsMax;
  while (changes.isRung && !signal.aborted && Date.now() < untilMs) {
    changes.silence();
    await pause(limits.clientQuietMs, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Aborted early: no cleanup is needed.
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
