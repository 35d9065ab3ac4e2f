/**
 * Keeps a folder and its vault in step: one loop that syncs when a file changes here, when the hub has news, and once in a
 * while. What goes wrong is said at once and tried again after growing pauses; what cannot go on ends the loop.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../limits/service.ts';
import { NotSignedIn } from '../../not-signed-in.ts';
import { RootGone } from '../folder/root.ts';
import { VaultGone } from '../hub.ts';
import { LargeTransfers } from '../large/transfers.ts';
import { isOutdated } from '../pull/pull.ts';
import type { SyncSession } from '../session.ts';
import { Bell } from './bell.ts';
import { DiskWatch } from './disk.ts';
import { Keeper } from './keeper.ts';

export interface Watch {
  /** Runs one sync; called again and again, never twice at once. */
  readonly syncNow: () => Promise<void>;
  /** What goes wrong for now; the watch goes on, and tries again after so many milliseconds. */
  readonly onTrouble: (error: Error, retryMs: number) => void;
  /** It goes well again. */
  readonly onWell: () => void;
  readonly signal: AbortSignal;
}

/** Resolves when the signal ends it. Throws what no waiting mends: the folder is gone, the sign-in has ended. */
export async function watchFolder(session: SyncSession, { syncNow, onTrouble, onWell, signal }: Watch): Promise<void> {
  const changes = new Bell();
  signal.addEventListener('abort', () => changes.ring(), { once: true });
  const keeper = new Keeper(session);
  const onError = (error: Error) => onTrouble(error, limits.clientRescanMs);
  const disk = new DiskWatch(session.folder.root, { changes, keeper, onError });
  const large = new LargeTransfers(session);
  session.isOverdue = () => changes.isRung;
  let failures = 0;
  try {
    while (!signal.aborted) {
      try {
        changes.silence();
        await syncNow();
        if (failures > 0) onWell();
        failures = 0;
        await untilDue(session, { changes, large }, signal);
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
    await disk.close();
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof RootGone || error instanceof NotSignedIn || error instanceof VaultGone;
}

/** Resolves when a sync is due: something changed here and is quiet again, the hub has news, or it was long ago. */
async function untilDue(
  { folder, hub, state, due, large: queue }: SyncSession,
  { changes, large }: { readonly changes: Bell; readonly large: LargeTransfers },
  signal: AbortSignal,
): Promise<void> {
  const { cursor } = state;
  if ([...due].some((path) => !queue.isGoing(path))) return;
  large.start();
  const asking = new AbortController();
  // A program may write to what was moved aside, which nothing else notices.
  const longestMs = folder.asides.isEmpty ? limits.clientRescanMs : limits.clientAsideMs;
  const longAgo = sleep(longestMs, undefined, { signal: asking.signal }).catch(() => undefined);
  const ask = async () => {
    while (cursor !== null && !asking.signal.aborted) {
      const askedMs = performance.now();
      if (await hub.hasNews({ cursor, own: state.own }, limits.clientWaitSeconds, asking.signal)) return;
      // A hub with too many waiting answers at once.
      await pause(limits.clientNewsMs - (performance.now() - askedMs), asking.signal);
    }
    if (cursor === null) await longAgo;
  };
  const news = ask().catch((error: unknown) => {
    // A hub that was restored has news too; the sync finds out which.
    if (!asking.signal.aborted && !isOutdated(error)) throw error;
  });
  try {
    await Promise.race([changes.rung(), news, longAgo, large.ended()]);
  } finally {
    asking.abort();
  }
  large.takeNote();
  // A program that saves in steps is let finish.
  const untilMs = Date.now() + limits.clientQuietMsMax;
  while (changes.isRung && !signal.aborted && Date.now() < untilMs) {
    changes.silence();
    await pause(limits.clientQuietMs, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Ended early: there is nothing to undo.
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
