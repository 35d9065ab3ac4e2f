/** Copies saved files that stand still, when the running sync is too slow to send them before the next save. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { isExecutable, isLarge, lookAt, lookIfReadable, type ReadContent, readPlain } from '../folder/file.ts';
import { storesExecutable } from '../folder/modes.ts';
import { checkFolderPath, type FolderPath, isBad, OWN_FOLDER, parentsOf } from '../folder/path.ts';
import type { Root } from '../folder/root.ts';
import { Saves } from '../folder/saves.ts';
import type { KnownSave } from './keeper-messages.ts';
import type { WrittenFiles } from './written.ts';

interface Hears {
  readonly excludes: (path: FolderPath) => boolean;
  /** What the loop of the sync knows of a file; undefined: it is busy. */
  readonly ask: (path: FolderPath) => Promise<KnownSave | undefined>;
  /** Called with the name of a copy of which the base is not known. */
  readonly onKept: (name: string) => void;
  /** Called once there is room again for files that were not looked at. */
  readonly onBehind: () => void;
  readonly onLost: (paths: ReadonlySet<FolderPath>) => void;
}

export class StillFiles {
  readonly #root: Root;
  readonly #written: WrittenFiles;
  readonly #hears: Hears;
  readonly #saves: Saves;
  /** By path as on this disk. */
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Files for which there was no room, those that changed last. */
  readonly #later = new Set<string>();
  #isBehind = false;
  #storesBit: boolean | undefined;
  #isClosed = false;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(root: Root, written: WrittenFiles, hears: Hears) {
    this.#root = root;
    this.#written = written;
    this.#hears = hears;
    this.#saves = new Saves(join(root.path, OWN_FOLDER));
  }

  /** Takes a file that may have changed, by its path on this disk. */
  changed(onDisk: string): void {
    clearTimeout(this.#timers.get(onDisk));
    this.#timers.delete(onDisk);
    this.#later.delete(onDisk);
    if (this.#isWritten(onDisk)) return;
    if (this.#isFull()) this.#postpone(onDisk);
    else this.#await(onDisk, limits.clientStillMs, false);
  }

  /** Takes a file that changed some time ago. One that waits goes on waiting, so that no late report puts off the look at a save. */
  changedBefore(onDisk: string): void {
    if (!this.#timers.has(onDisk) && !this.#later.has(onDisk)) this.changed(onDisk);
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#later.clear();
  }

  /** So many at once are a checkout or an installation. A person's save among them is one of the last. */
  #postpone(onDisk: string): void {
    this.#later.add(onDisk);
    if (this.#later.size <= limits.clientPushFiles) return;
    const [first] = this.#later;
    this.#later.delete(first as string);
    this.#isBehind = true;
  }

  #catchUp(): void {
    for (const last of [...this.#later].toReversed()) {
      this.#later.delete(last);
      if (this.#isWritten(last)) continue;
      this.#await(last, limits.clientStillMs, false);
      return;
    }
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#hears.onBehind();
  }

  #isFull(): boolean {
    if (this.#timers.size < limits.clientPushFiles) return false;
    const nowMs = performance.now();
    if (nowMs - this.#sweptMs < limits.clientBusyMs) return true;
    this.#sweptMs = nowMs;
    // A file that a sync writes may be reported before the sync says that it wrote it.
    for (const [onDisk, timer] of this.#timers) {
      if (!this.#isWritten(onDisk)) continue;
      clearTimeout(timer);
      this.#timers.delete(onDisk);
    }
    return this.#timers.size >= limits.clientPushFiles;
  }

  /** `againMs`: how long it waits where the look fails. */
  #await(onDisk: string, ms: number, hasRested: boolean, againMs: number = limits.clientStillMs): void {
    const look = () => {
      this.#timers.delete(onDisk);
      this.#catchUp();
      this.#look(onDisk, hasRested).catch(() => this.#failed(onDisk, hasRested, againMs));
    };
    this.#timers.set(onDisk, setTimeout(look, ms));
  }

  /** The sync meets and reports the same error: an unreadable file, a full disk, too many open files. It may be over soon. */
  #failed(onDisk: string, hasRested: boolean, againMs: number): void {
    // One that changed meanwhile is looked at anyhow.
    if (this.#isClosed || this.#timers.has(onDisk) || this.#waits(onDisk, hasRested)) return;
    const isOver = againMs > limits.clientRetryMsMax || this.#timers.size >= limits.clientPushFiles;
    if (isOver) this.#hears.onBehind();
    else this.#await(onDisk, againMs, hasRested, 2 * againMs);
  }

  async #look(onDisk: string, hasRested: boolean): Promise<void> {
    if (this.#waits(onDisk, hasRested)) return;
    const path = checkFolderPath(onDisk);
    if (isBad(path) || this.#isWritten(onDisk) || this.#hears.excludes(path)) return;
    const known = await this.#hears.ask(path);
    // Saved again meanwhile: it is looked at once more.
    if (this.#isClosed || this.#timers.has(onDisk) || existsSync(join(this.#root.path, OWN_FOLDER, 'paused'))) return;
    if (known?.isRestless === true && !hasRested) {
      this.#await(onDisk, limits.clientRestMs - limits.clientStillMs, true);
      return;
    }
    if (this.#waits(onDisk, hasRested)) return;
    const content = this.#read(onDisk);
    if (content === undefined || content.sha256 === known?.base || content.sha256 === known?.elsewhere) return;
    const { name, lost } = this.#saves.keep(path, content, known?.base ?? null);
    if (name !== undefined && known === undefined) this.#hears.onKept(name);
    if (lost.size > 0) this.#hears.onLost(lost);
  }

  /** True while the folder is away: the file is looked at once it is back. */
  #waits(onDisk: string, hasRested: boolean): boolean {
    if (this.#root.isThere) return false;
    this.#await(onDisk, limits.clientStillMs, hasRested);
    return true;
  }

  /** True for a file that the sync wrote, which is none of the user's. */
  #isWritten(onDisk: string): boolean {
    const stats = lookIfReadable(join(this.#root.path, onDisk));
    return stats !== undefined && this.#written.has(stats);
  }

  /** The content of a file that is neither large nor reached through a link. */
  #read(onDisk: string): ReadContent | undefined {
    const at = (path: string) => lookAt(join(this.#root.path, path));
    if (!parentsOf(onDisk).every((parent) => at(parent)?.isDirectory() === true)) return undefined;
    const stats = at(onDisk);
    if (stats?.isFile() !== true || isLarge(stats)) return undefined;
    this.#storesBit ??= storesExecutable(join(this.#root.path, OWN_FOLDER));
    return readPlain(join(this.#root.path, onDisk), (one) =>
      this.#storesBit === true ? isExecutable(one) : undefined,
    );
  }
}
