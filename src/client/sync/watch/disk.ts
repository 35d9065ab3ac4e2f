/**
 * Watches a folder on the disk, and starts again after it was missing, since the system then drops the watch. What is
 * replaced under the same name is followed here: chokidar compares names, so it keeps watching what was there before.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FSWatcher, watch } from 'chokidar';
import { limits } from '../../../limits/service.ts';
import { codeOf, lookIfReadable } from '../folder/file.ts';
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
  /** The watcher that is closed once its successor is ready. */
  #former: FSWatcher | undefined;
  /** Folders that came, and of which chokidar has not said so; and the timer until they count as replaced. */
  readonly #came = new Set<string>();
  #settling: NodeJS.Timeout | undefined;
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
    await this.#closeWatchers();
  }

  #begin(): FSWatcher {
    const { path: root } = this.#root;
    const { changes, keeper, onBlind } = this.#listeners;
    const isOwn = (path: string) => relative(root, path).split(sep).some(isReserved);
    const watcher = watch(root, {
      ignoreInitial: true,
      // A folder removed while watched may leave handles open; they must not keep a stopped watch running.
      persistent: false,
      followSymlinks: false,
      ignored: isOwn,
    });
    watcher.on('all', (event, path) => {
      changes.ring();
      if (event === 'add' || event === 'change') keeper.changed(path);
      if (event === 'addDir') this.#came.delete(path);
      if (event === 'unlinkDir' && path === root && watcher === this.#watcher) void this.#beginAgain();
    });
    watcher.on('raw', (event, name: string | null, of) => {
      if (name === null) return;
      const path = join((of as { readonly watchedPath: string }).watchedPath, name);
      if (!isOwn(path)) this.#noticed(event, path);
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

  /** Takes what the system reports about an entry of a watched folder: also about one that was replaced. */
  #noticed(event: string, path: string): void {
    const { changes, keeper } = this.#listeners;
    const stats = lookIfReadable(path);
    if (stats?.isFile() === true) {
      changes.ring();
      keeper.changed(path);
    }
    if (event !== 'rename' || stats?.isDirectory() !== true) return;
    changes.ring();
    this.#came.add(path);
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#renew(), limits.clientQuietMs);
  }

  /** Watches everything again when a folder was replaced, and reports the files in it, which nothing else does. */
  #renew(): void {
    const replaced = [...this.#came].filter((path) => lookIfReadable(path)?.isDirectory() === true);
    this.#came.clear();
    if (replaced.length === 0 || this.#closing.signal.aborted) return;
    for (const path of replaced) this.#reportBelow(path);
    // The successor sees everything that is there once it is ready, so one at a time is enough.
    const former = this.#watcher;
    void this.#former?.close();
    this.#former = former;
    this.#watcher = this.#begin();
    this.#watcher.once('ready', () => void former.close());
  }

  #reportBelow(folder: string): void {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (isReserved(entry.name)) continue;
      if (entry.isDirectory()) this.#reportBelow(path);
      else if (entry.isFile()) this.#listeners.keeper.changed(path);
    }
  }

  async #closeWatchers(): Promise<void> {
    clearTimeout(this.#settling);
    await Promise.all([this.#watcher.close(), this.#former?.close()]);
  }

  /** Restarts the watch when the missing folder is back. A sync in the meantime ends the whole watch. */
  async #beginAgain(): Promise<void> {
    const { signal } = this.#closing;
    await this.#closeWatchers();
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

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Gone or unreadable: the sync reports the second.
    return [];
  }
}

function blindSentence(error: unknown): string {
  const code = codeOf(error);
  const seconds = limits.clientBlindRescanMs / 1000;
  const raise = code === 'ENOSPC' ? ' To raise the limit: sudo sysctl fs.inotify.max_user_watches=1048576' : '';
  const what = code === 'ENOSPC' ? 'the system watches no more folders' : code;
  return `Not every change here is noticed at once (${what}); the folder is compared every ${seconds} seconds instead.${raise}`;
}
