/** cairn sync watch: syncs a folder continuously until stopped, and reports each change of status once. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Unreachable } from '../../client/client-error.ts';
import { withFileLock } from '../../client/file-lock.ts';
import { nextCommand } from '../../client/next-command.ts';
import { shownLine } from '../../client/shown.ts';
import { syncOnce } from '../../client/sync/cycle.ts';
import type { SyncedFolder } from '../../client/sync/folder/folder.ts';
import type { Allows } from '../../client/sync/plan/guard.ts';
import { backoffMs } from '../../client/sync/plan/waits.ts';
import type { Replica } from '../../client/sync/replica.ts';
import { StandingBoard } from '../../client/sync/watch/board.ts';
import { collectEarly } from '../../client/sync/watch/collect-early.ts';
import { openLocalSocket } from '../../client/sync/watch/local-socket.ts';
import { watchFolder } from '../../client/sync/watch/watch.ts';
import { ToolRefused } from '../../client/tool-refused.ts';
import { limits } from '../../limits/service.ts';
import { type FolderChoice, type OpenedReplica, openReplica } from './sync-open.ts';
import { exitCodeOf, type OpenNote, openNotes } from './sync-report.ts';
import { voiceOf, type WatchVoice } from './watch-voice.ts';

export interface WatchOptions extends Allows {
  readonly json: boolean;
  /** Creates a vault that does not exist without a question, even if its name is similar to another vault's. */
  readonly create: boolean;
  readonly signal: AbortSignal;
  /** Printed before each line, since several folders share one output. */
  readonly prefix: string;
}

/** Watches one folder. Resolves with the exit code. Throws errors that no retry can fix. */
export async function watchOne(choice: FolderChoice, options: WatchOptions): Promise<number> {
  collectEarly();
  const opened = await openPatiently(choice, options);
  if (opened === undefined) return 0;
  const { replica } = opened;
  replica.folder.makeOwn();
  const holder = `watches ${replica.folder.root.path} already`;
  return await withFileLock(replica.folder.own('watch'), () => keepInStep(opened, options), {
    waitMs: 0,
    holder,
    makesFolder: false,
  });
}

async function keepInStep(opened: OpenedReplica, options: WatchOptions): Promise<number> {
  const board = new StandingBoard(opened.replica);
  const { path } = opened.replica.folder.root;
  const socket = openLocalSocket(path, () => board.now());
  try {
    return await watchAndTell(opened, options, board);
  } finally {
    socket.close();
  }
}

async function watchAndTell(
  { replica: opened, takeEvents, line }: OpenedReplica,
  options: WatchOptions,
  board: StandingBoard,
): Promise<number> {
  const { json, signal, prefix } = options;
  const { folder, state } = opened;
  const { root } = folder;
  const { says, warns, did } = voiceOf(json, { prefix, folder: root.path });
  const told = new Told();
  let refusedMs = 0;
  const progress: Replica['progress'] = (transfer, amount) => {
    board.moved(transfer, amount);
    opened.progress(transfer, amount);
  };
  const last = await watchFolder(
    { ...opened, progress },
    {
      signal,
      onReady() {
        line.close();
        says('ready', `watching ${shownLine(root.path)}; Ctrl-C ends it`);
      },
      onTrouble(error, retryMs) {
        line.close();
        const isAway = error instanceof Unreachable;
        // It may come back updated, or with other limits: what it refused is sent again then.
        if (isAway) refusedMs = 0;
        const why = isAway ? `The hub is down: ${error.what}` : error.message;
        board.failed(stopped(why), isAway);
        if (!told.isNew(isAway ? 'unreachable' : error.message)) return;
        const again = `Trying again in ${Math.ceil(retryMs / 1000)} s, then less often.`;
        warns(isAway ? 'hub away' : 'trouble', `${stopped(why)} ${again}`);
      },
      onBlind: (sentence) => warns('blind', sentence),
      onLost: (sentence) => warns('saves full', sentence),
      onWell() {
        told.forget();
        says('hub back', 'back: syncing again');
      },
      async syncNow(replica, before, keep) {
        await untilResumed(folder, says, signal);
        if (signal.aborted) return;
        const retryRefused = Date.now() - refusedMs > limits.clientRefusedMs;
        if (retryRefused) refusedMs = Date.now();
        const { allowDeletes, allowRewrites } = options;
        const decided = { restoreMissing: false, restoreRewritten: false, sendBack: false };
        const how = { allowDeletes, allowRewrites, ...decided, retryRefused, leavesLarge: true };
        let round = before;
        try {
          await syncOnce(replica, before, { ...how, direction: 'both' }, (next) => {
            round = next;
            keep(next);
          });
          board.synced(round);
        } finally {
          line.close();
          did(takeEvents());
        }
        const { news, isSettled } = told.news(openNotes(replica, round));
        for (const { state: name, sentence } of news) warns(name, sentence);
        if (json && isSettled) says('ready', 'Everything that waited is settled.');
      },
    },
  );
  return exitCodeOf(last, state);
}

/** Resolves when the folder is not paused, or the watch ends. */
async function untilResumed(folder: SyncedFolder, says: WatchVoice['says'], signal: AbortSignal): Promise<void> {
  for (let wasPaused = false; !signal.aborted; wasPaused = true) {
    if (!existsSync(folder.own('paused'))) {
      if (wasPaused) says('resumed', 'resumed');
      return;
    }
    if (!wasPaused) says('paused', `paused; run \`${nextCommand(folder.root.path, 'sync resume')}\` to continue`);
    await sleep(limits.clientPausedMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The hub is needed to find a vault by name. When it is unreachable or busy, retries with growing pauses. */
async function openPatiently(
  choice: FolderChoice,
  { signal, prefix, json }: WatchOptions,
): Promise<OpenedReplica | undefined> {
  const { warns } = voiceOf(json, { prefix, folder: resolve(choice.folder ?? '.') });
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await openReplica(choice, signal);
    } catch (error) {
      const mayPass = error instanceof Unreachable || error instanceof ToolRefused;
      if (!mayPass) throw error;
      const isAway = error instanceof Unreachable;
      const why = isAway ? `The hub is down: ${error.what}` : error.message;
      if (failures === 0) warns(isAway ? 'hub away' : 'trouble', `${stopped(why)} Waiting for it.`);
      await sleep(backoffMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

/** A sentence with its full stop: the hub's refusals have none. */
export const stopped = (sentence: string) => (sentence.endsWith('.') ? sentence : `${sentence}.`);

const keyOf = ({ key, sentence }: OpenNote): string => key ?? sentence;

/** Remembers reported problems, so that each is reported once. */
class Told {
  #trouble: string | undefined;
  #open = new Set<string>();

  isNew(trouble: string): boolean {
    const isNew = trouble !== this.#trouble;
    this.#trouble = trouble;
    return isNew;
  }

  forget(): void {
    this.#trouble = undefined;
  }

  /** The notes that were not among the previous ones, and whether the last of those is gone. */
  news(notes: readonly OpenNote[]): { readonly news: readonly OpenNote[]; readonly isSettled: boolean } {
    const before = this.#open;
    this.#open = new Set(notes.map(keyOf));
    return {
      news: notes.filter((note) => !before.has(keyOf(note))),
      isSettled: before.size > 0 && notes.length === 0,
    };
  }
}
