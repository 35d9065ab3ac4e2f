/**
 * Watches the folders of a tree, each by its inode: inotify reports what happens to the entries of a folder, and names
 * are only looked up. So a folder that replaces another under the same name is a new one (inotify(7), fs.watch).
 */
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { codeOf, lookIfReadable } from '../folder/file.ts';
import { coversAll, reportedPath } from './reports.ts';

interface Watched {
  readonly watcher: Pick<FSWatcher, 'close'>;
  readonly inode: number;
  /** The last scan that found the folder. */
  scan: number;
  /** True once the root was away: where it was unmounted, the system has ended the watch. */
  wasAway: boolean;
}

/** How the system watches: as Node.js does on its own platform, unless a test replays what another one reported. */
export interface System {
  readonly platform: string;
  readonly watch: (
    folder: string,
    how: { readonly persistent: boolean; readonly recursive: boolean },
  ) => Pick<FSWatcher, 'on' | 'close'>;
}

export const THIS_SYSTEM: System = { platform: process.platform, watch };

interface Listeners {
  /** Called with the folder, the kind of event, and the path of the entry below it; undefined when it may be any. */
  readonly onEvent: (folder: string, event: string, name: string | undefined) => void;
  /** Called when a folder cannot be watched; usually there are too many for the system. */
  readonly onError: (error: unknown) => void;
}

/** The folder is gone, is a file by now, or belongs to somebody else: the scan finds that, and reports the last. */
const NO_FOLDER = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

export class FolderWatches {
  readonly #root: string;
  readonly #listeners: Listeners;
  readonly #system: System;
  readonly #coversAll: boolean;
  /** By absolute path. */
  readonly #watched = new Map<string, Watched>();
  #scans = 0;

  constructor(root: string, listeners: Listeners, system: System) {
    this.#root = root;
    this.#listeners = listeners;
    this.#system = system;
    this.#coversAll = coversAll(system.platform);
  }

  /** Watches a folder, unless it is watched already. `isNew`: whatever was watched under this name is another folder. */
  add(folder: string, isNew = false): void {
    if (this.#coversAll && folder !== this.#root) return;
    const known = this.#watched.get(folder);
    const stats = lookIfReadable(folder);
    const inode = stats?.isDirectory() === true ? stats.ino : undefined;
    if (known !== undefined) {
      const isSame = known.inode === inode;
      // A watch follows its folder, and only the one of the root that was moved away reports that it is back.
      const isAway = folder === this.#root && !isSame;
      if (isAway) known.wasAway = true;
      if (isAway || (isSame && !isNew && !known.wasAway)) {
        known.scan = this.#scans;
        return;
      }
    }
    const watcher = inode === undefined ? undefined : this.#open(folder);
    // The former is closed last: both may be the same folder, which is then watched without a gap.
    this.#drop(folder);
    if (watcher === undefined || inode === undefined) return;
    this.#watched.set(folder, { watcher, inode, scan: this.#scans, wasAway: false });
  }

  /** Begins a scan that calls `add` for every folder. */
  beginScan(): void {
    this.#scans += 1;
  }

  /** Closes the watches of folders that no scan has found since `beginScan`: removed, moved away, or excluded by now. */
  endScan(): void {
    for (const [folder, { scan }] of this.#watched) if (scan !== this.#scans) this.#drop(folder);
  }

  close(): void {
    for (const folder of this.#watched.keys()) this.#drop(folder);
  }

  #open(folder: string): Watched['watcher'] | undefined {
    const { onEvent, onError } = this.#listeners;
    try {
      // Not persistent: a folder removed while watched may leave its handle open, which must not keep the process running.
      const watcher = this.#system.watch(folder, { persistent: false, recursive: this.#coversAll });
      watcher.on('change', (event, name) => {
        // The folder itself was removed, moved or unmounted, or an entry of the same name: inotify tells both alike. The other
        // systems tell of entries only.
        if (event === 'rename' && name === basename(folder) && !this.#coversAll) this.#moved(folder);
        onEvent(folder, event, reportedPath(this.#system.platform, typeof name === 'string' ? name : null));
      });
      watcher.on('error', () => this.#drop(folder));
      return watcher;
    } catch (error) {
      if (!NO_FOLDER.has(codeOf(error))) onError(error);
      return undefined;
    }
  }

  #moved(folder: string): void {
    this.add(folder, true);
    // What a scan looked at while the root was away was not there, and nothing else reports that it is back.
    if (folder === this.#root) this.#listeners.onEvent(folder, 'rename', undefined);
  }

  #drop(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }
}
