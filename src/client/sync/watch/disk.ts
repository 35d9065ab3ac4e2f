/**
 * Notices changes of a watched folder, and remembers where. Each scan watches every folder right before it reads it, so
 * nothing happens unseen in between; folders that come later are watched when the system reports them.
 */
import { type Dirent, readdirSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { codeOf, isAsSeen, lookIfReadable, looksSame, type SeenFile } from '../folder/file.ts';
import { isReserved, OWN_FOLDER } from '../folder/path.ts';
import type { Bell } from '../run/bell.ts';
import { FolderWatches, type System, THIS_SYSTEM } from './folder-watches.ts';
import { Gathering, type HearReport } from './gathering.ts';
import type { Keeper } from './keeper.ts';
import { type Blind, blindBy, isEcho } from './reports.ts';

interface Listeners {
  readonly changes: Pick<Bell, 'ring'>;
  readonly keeper: Pick<Keeper, 'changed'>;
  /** True for a path that the rules of the last scan exclude, relative to the root; that of a folder ends with a slash. */
  readonly excludes: (path: string) => boolean;
  /** The metadata of a file as the last sync left it, relative to the root. */
  readonly seenOf: (path: string) => SeenFile | undefined;
  /** True for a file that a sync wrote, so that it is no change at all. */
  readonly isOwn?: (stats: Stats) => boolean;
  /**
   * Gathers reports for some milliseconds, so that `isOwn` knows the files, and for as long as the folder is not there. Undefined: each
   * is looked at at once.
   */
  readonly gather?: { readonly ms: number; readonly isThere: () => boolean };
  /** True for a folder that the last scan found, or that a sync made since. */
  readonly knowsFolder: (path: string) => boolean;
  /** Called once, when not everything can be watched. */
  readonly onBlind: (blind: Blind) => void;
}

export class DiskWatch {
  readonly #root: string;
  readonly #listeners: Listeners;
  readonly #platform: string;
  readonly #watches: FolderWatches;
  readonly #noticed = new Set<string>();
  readonly #burst = new Burst();
  readonly #gathering: Gathering | undefined;
  #isBlind = false;
  #isAll = true;
  #scannedMs = Number.NEGATIVE_INFINITY;

  /** `root`: absolute path with links resolved. */
  constructor(root: string, listeners: Listeners, system: System = THIS_SYSTEM) {
    this.#root = root;
    this.#listeners = listeners;
    this.#platform = system.platform;
    const notice: HearReport = (folder, event, name) => this.#notice(folder, event, name);
    const { gather } = listeners;
    this.#gathering = gather && new Gathering(gather.ms, notice, gather.isThere);
    const onError = (error: unknown) => this.#goBlind(error);
    this.#watches = new FolderWatches(root, { onEvent: this.#gathering?.add ?? notice, onError }, system);
    this.#watches.add(root);
  }

  /** True when changes may be missed, so that the folder is scanned more often. */
  get isBlind(): boolean {
    return this.#isBlind;
  }

  /** True at intervals, and when more may change than the system reports. */
  get isScanDue(): boolean {
    return this.#isBlind || performance.now() - this.#scannedMs >= limits.clientRescanMs;
  }

  /** True when more may have changed than the system has reported since the last `takeNoticed`. */
  get isMissing(): boolean {
    return this.#isAll || this.#burst.isOver;
  }

  /** What changed since the last call, relative to the root. `all` at first, and when something may be missing. */
  takeNoticed(): ReadonlySet<string> | 'all' {
    const isAll = this.isMissing;
    const paths = new Set(this.#noticed);
    this.#noticed.clear();
    this.#isAll = false;
    this.#burst.end();
    return isAll ? 'all' : paths;
  }

  /** Watches a folder that a scan is about to read; its path is relative to the root, which comes first and is empty. */
  visit(path: string): void {
    if (path === '') this.#watches.beginScan();
    this.#watches.add(join(this.#root, path));
  }

  /** Ends a scan of everything, which has visited every folder that takes part. */
  endScan(): void {
    this.#watches.endScan();
    this.#scannedMs = performance.now();
  }

  close(): void {
    this.#gathering?.end();
    this.#watches.close();
  }

  #notice(folder: string, event: string, name: string | undefined): void {
    const { changes, keeper, seenOf, isOwn } = this.#listeners;
    this.#burst.count();
    if (name === undefined) {
      this.#isAll = true;
      changes.ring();
      return;
    }
    const path = join(folder, name);
    // A folder that syncs itself takes no part in this one.
    if (basename(path) === OWN_FOLDER && dirname(path) !== this.#root) this.#isAll = true;
    const stats = lookIfReadable(path);
    if (stats?.isFile() === true && isOwn?.(stats) === true) return;
    if (isEcho(this.#platform, event, stats?.isDirectory() === true)) return;
    if (this.#isLeftOut(path, stats?.isDirectory())) return;
    const relativePath = this.#relative(path);
    if (stats?.isFile() === true) {
      const seen = seenOf(relativePath);
      // Without this, each file that a sync writes would cause another sync.
      if (seen !== undefined && isAsSeen(stats, seen)) {
        // A write within the resolution of the disk's clock leaves the metadata; the next scan reads the file.
        if (event === 'change' && !looksSame(stats, seen)) this.#noticed.add(relativePath);
        return;
      }
    }
    const isFolder = stats?.isDirectory() === true;
    // The same for each folder that a sync makes, with all that is in it.
    if (isFolder && event === 'rename' && !this.#came(path)) return;
    this.#noticed.add(relativePath);
    changes.ring();
    if (stats?.isFile() === true) keeper.changed(path);
    // Its permissions may have changed.
    if (isFolder && event !== 'rename') this.#watches.add(path);
  }

  /** Watches a folder that came, and reports the files in it, which nothing else does. False when a sync left all of it so. */
  #came(folder: string): boolean {
    const { keeper, knowsFolder, seenOf } = this.#listeners;
    this.#watches.add(folder, true);
    let isNews = !knowsFolder(this.#relative(folder));
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      // A folder that syncs itself.
      if (entry.name === OWN_FOLDER) isNews = true;
      if (this.#isLeftOut(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) {
        if (this.#came(path)) isNews = true;
        continue;
      }
      const seen = seenOf(this.#relative(path));
      const stats = seen && lookIfReadable(path);
      if (seen !== undefined && stats !== undefined && isAsSeen(stats, seen)) continue;
      isNews = true;
      if (entry.isFile()) keeper.changed(path);
    }
    return isNews;
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
    if (!this.#isBlind) this.#listeners.onBlind(blindBy(codeOf(error)));
    this.#isBlind = true;
  }
}

/** Counts what the system reports at once: when its queue is full, it drops the rest without a word (inotify(7)). */
class Burst {
  #count = 0;
  #isOver = false;

  count(): void {
    if (this.#count === 0) setImmediate(() => this.#pass());
    this.#count += 1;
    if (this.#count >= limits.clientNoticedMax) this.#isOver = true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = false;
  }

  #pass(): void {
    this.#count = 0;
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
