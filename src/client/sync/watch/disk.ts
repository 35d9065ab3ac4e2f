/** Watches a folder on the disk, and starts again after it was missing, since the system then drops the watch. */
import { relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FSWatcher, watch } from 'chokidar';
import { limits } from '../../../limits/service.ts';
import { codeOf } from '../folder/file.ts';
import { isReserved } from '../folder/path.ts';
import type { Root } from '../folder/root.ts';
import type { Bell } from './bell.ts';
import type { Keeper } from './keeper.ts';

interface Listeners {
  readonly changes: Bell;
  readonly keeper: Keeper;
  /** Called once, with a sentence for the user, when not everything can be watched. */
  readonly onBlind: (sentence: string) => void;
}

export class DiskWatch {
  readonly #root: Root;
  readonly #listeners: Listeners;
  readonly #closing = new AbortController();
  #watcher: FSWatcher;
  #isBlind = false;

  constructor(root: Root, listeners: Listeners) {
    this.#root = root;
    this.#listeners = listeners;
    this.#watcher = this.#begin();
  }

  /** True when changes may be missed, so that the folder is scanned more often. */
  get isBlind(): boolean {
    return this.#isBlind;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watcher.close();
  }

  #begin(): FSWatcher {
    const { path: root } = this.#root;
    const { changes, keeper, onBlind } = this.#listeners;
    const watcher = watch(root, {
      ignoreInitial: true,
      // A folder removed while watched may leave handles open; they must not keep a stopped watch running.
      persistent: false,
      followSymlinks: false,
      ignored: (path) => relative(root, path).split(sep).some(isReserved),
    });
    watcher.on('all', (event, path) => {
      changes.ring();
      if (event === 'add' || event === 'change') keeper.changed(path);
      if (event === 'unlinkDir' && path === root) void this.#beginAgain();
    });
    // Changes between the first scan and this event trigger no event.
    watcher.on('ready', () => changes.ring());
    // Usually too many folders for the system; the next full scan finds the missed changes.
    watcher.on('error', (error) => {
      if (!this.#isBlind) onBlind(blindSentence(error));
      this.#isBlind = true;
    });
    return watcher;
  }

  /** Restarts the watch when the missing folder is back. A sync in the meantime ends the whole watch. */
  async #beginAgain(): Promise<void> {
    const { signal } = this.#closing;
    await this.#watcher.close();
    while (!signal.aborted && !this.#isThere()) {
      await sleep(limits.clientQuietMs, undefined, { signal }).catch(() => undefined);
    }
    if (!signal.aborted) this.#watcher = this.#begin();
  }

  #isThere(): boolean {
    try {
      this.#root.check();
      return true;
    } catch {
      // Missing, or replaced by another folder.
      return false;
    }
  }
}

function blindSentence(error: unknown): string {
  const code = codeOf(error);
  const seconds = limits.clientBlindRescanMs / 1000;
  const raise = code === 'ENOSPC' ? ' To raise the limit: sudo sysctl fs.inotify.max_user_watches=1048576' : '';
  const what = code === 'ENOSPC' ? 'the system watches no more folders' : code;
  return `Not every change here is noticed at once (${what}); the folder is compared every ${seconds} seconds instead.${raise}`;
}
