/** Keeps a folder and its vault in step: syncs when a file changes here, and when the hub has news. */

import { relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from 'chokidar';
import { limits } from '../../limits/service.ts';
import { Unreachable } from '../http.ts';
import { isOwn } from './scan.ts';
import type { SyncSession } from './session.ts';

export interface Watch {
  /** Runs one sync; called again and again, never twice at once. */
  readonly syncNow: () => Promise<void>;
  /** What went wrong for now; the watch goes on. */
  readonly warn: (error: Error) => void;
  readonly signal: AbortSignal;
}

/** Resolves when the signal ends it. Throws what is no matter of the connection. */
export async function watchFolder(session: SyncSession, { syncNow, warn, signal }: Watch): Promise<void> {
  const due = createBell();
  const watcher = watch(session.folder, {
    ignoreInitial: true,
    ignored: (path) => isOwn(relative(session.folder, path).split(sep).join('/')),
  });
  watcher.on('all', () => due.ring());
  signal.addEventListener('abort', () => due.ring(), { once: true });
  const news = waitForNews(session, { due, warn, signal });
  try {
    while (!signal.aborted) {
      try {
        await syncNow();
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        warn(error);
        await pause(limits.clientRetryMs, signal);
        continue;
      }
      await due.rung();
      // A program that saves in steps is let finish.
      if (!signal.aborted) await pause(limits.clientQuietMs, signal);
      due.silence();
    }
  } finally {
    await watcher.close();
    await news;
  }
}

interface Bell {
  ring(): void;
  silence(): void;
  rung(): Promise<void>;
}

/** A bell that stays rung until it is silenced. */
function createBell(): Bell {
  let isRung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      isRung = true;
      wake?.();
    },
    silence() {
      isRung = false;
    },
    async rung() {
      if (isRung) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
  };
}

/** Asks the hub for anything newer than the cursor and lets it wait with the answer; rings for each. */
async function waitForNews(
  { hub, state }: SyncSession,
  { due, warn, signal }: Pick<Watch, 'warn' | 'signal'> & { readonly due: Bell },
): Promise<void> {
  while (!signal.aborted) {
    const { cursor } = state;
    try {
      const isNews = cursor !== null && (await hub.hasNews(cursor, limits.clientWaitSeconds, signal));
      if (isNews) due.ring();
      // What is new is pulled by the sync; until then the same question has the same answer.
      if (isNews || cursor === null) await pause(limits.clientQuietMs * 2, signal);
    } catch (error) {
      if (signal.aborted) return;
      warn(error as Error);
      await pause(limits.clientRetryMs, signal);
      // The sync tells what it is, should it be more than the connection.
      due.ring();
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Ended early: there is nothing to undo.
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
