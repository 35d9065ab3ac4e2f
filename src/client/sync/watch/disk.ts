/** Watches a folder on the disk, also after it was away for a while: then the system forgets that it was watched. */
import { relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FSWatcher, watch } from 'chokidar';
import { limits } from '../../../limits/service.ts';
import { isReserved } from '../folder/path.ts';
import type { Root } from '../folder/root.ts';
import type { Bell } from './bell.ts';
import type { Keeper } from './keeper.ts';

interface Listeners {
  readonly changes: Bell;
  readonly keeper: Keeper;
  /** Told once when not everything can be watched. */
  readonly onError: (error: Error) => void;
}

export class DiskWatch {
  readonly #root: Root;
  readonly #listeners: Listeners;
  readonly #closing = new AbortController();
  #watcher: FSWatcher;
  #isTold = false;

  constructor(root: Root, listeners: Listeners) {
    this.#root = root;
    this.#listeners = listeners;
    this.#watcher = this.#begin();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#watcher.close();
  }

  #begin(): FSWatcher {
    const { path: root } = this.#root;
    const { changes, keeper, onError } = this.#listeners;
    const watcher = watch(root, {
      ignoreInitial: true,
      // A folder that goes away while it is watched may leave handles behind; they must not keep an ended watch running.
      persistent: false,
      followSymlinks: false,
      ignored: (path) => relative(root, path).split(sep).some(isReserved),
    });
    watcher.on('all', (event, path) => {
      changes.ring();
      if (event === 'add' || event === 'change') keeper.changed(path);
      if (event === 'unlinkDir' && path === root) void this.#beginAgain();
    });
    // What changed since the first sync looked and before the watcher was ready rings no bell of its own.
    watcher.on('ready', () => {
      changes.ring();
      keeper.begin();
    });
    // Most often too many folders for the system; what the watcher misses, the next full look finds.
    watcher.on('error', (error) => {
      if (!this.#isTold) onError(new Error(`Not every change here is noticed at once (${(error as Error).message}).`));
      this.#isTold = true;
    });
    return watcher;
  }

  /** The folder is away. A sync in this time ends the watch; if there is none, it is watched again once it is back. */
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
      // Away, or another folder in its place.
      return false;
    }
  }
}
