/**
 * Notices changes of a watched folder. Each scan watches every folder right before it reads it, so nothing happens
 * unseen in between; folders that come later are watched when the system reports them.
 */
import { type Dirent, readdirSync, type Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { codeOf, lookIfReadable } from '../folder/file.ts';
import { isReserved } from '../folder/path.ts';
import type { Bell } from '../run/bell.ts';
import { FolderWatches } from './folder-watches.ts';
import type { Keeper } from './keeper.ts';

interface Listeners {
  readonly changes: Bell;
  readonly keeper: Keeper;
  /** True for a path that the rules of the last scan exclude, relative to the root; that of a folder ends with a slash. */
  readonly excludes: (path: string) => boolean;
  /** True for a file as the last sync left it, relative to the root. */
  readonly isSynced: (path: string, stats: Stats) => boolean;
  /** Called once, with a sentence for the user, when not everything can be watched. */
  readonly onBlind: (sentence: string) => void;
}

export class DiskWatch {
  readonly #root: string;
  readonly #listeners: Listeners;
  readonly #watches: FolderWatches;
  #isBlind = false;

  /** `root`: absolute path with links resolved. */
  constructor(root: string, listeners: Listeners) {
    this.#root = root;
    this.#listeners = listeners;
    this.#watches = new FolderWatches(root, {
      onEvent: (folder, event, name) => this.#noticed(folder, event, name),
      onError: (error) => this.#goBlind(error),
    });
    this.#watches.add(root);
  }

  /** True when changes may be missed, so that the folder is scanned more often. */
  get isBlind(): boolean {
    return this.#isBlind;
  }

  /** Watches a folder that a scan is about to read; its path is relative to the root, which comes first and is empty. */
  visit(path: string): void {
    if (path === '') this.#watches.beginScan();
    this.#watches.add(join(this.#root, path));
  }

  /** Ends a scan, which has visited every folder that takes part. */
  endScan(): void {
    this.#watches.endScan();
  }

  close(): void {
    this.#watches.close();
  }

  #noticed(folder: string, event: string, name: string | null): void {
    const { changes, keeper } = this.#listeners;
    const path = join(folder, name ?? '');
    const stats = lookIfReadable(path);
    if (this.#isLeftOut(path, stats?.isDirectory())) return;
    // Without this, each file that a sync writes would cause another sync.
    if (stats?.isFile() === true && this.#listeners.isSynced(this.#relative(path), stats)) return;
    changes.ring();
    if (stats?.isFile() === true) keeper.changed(path);
    if (stats?.isDirectory() !== true) return;
    // Otherwise its permissions may have changed.
    if (event === 'rename') this.#came(path);
    else this.#watches.add(path);
  }

  /** Watches a folder that came, and reports the files in it, which nothing else does. */
  #came(folder: string): void {
    this.#watches.add(folder, true);
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (this.#isLeftOut(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) this.#came(path);
      else if (entry.isFile()) this.#listeners.keeper.changed(path);
    }
  }

  /** `isFolder`: undefined when nothing is there by now. */
  #isLeftOut(absolute: string, isFolder: boolean | undefined): boolean {
    const path = this.#relative(absolute);
    if (path === '') return false;
    const { excludes } = this.#listeners;
    return path.split('/').some(isReserved) || excludes(isFolder === true ? `${path}/` : path);
  }

  #relative(absolute: string): string {
    return relative(this.#root, absolute).split(sep).join('/');
  }

  #goBlind(error: unknown): void {
    if (!this.#isBlind) this.#listeners.onBlind(blindSentence(error));
    this.#isBlind = true;
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
