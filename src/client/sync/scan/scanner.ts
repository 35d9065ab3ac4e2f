/** Walks a synced folder, or a part of it: takes its files with their hashes, and leaves out the rest, with the reasons. */
import { type Dirent, readdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isChunked } from '../../../limits/large-file.ts';
import { limits } from '../../../limits/service.ts';
import { nextCommand } from '../../next-command.ts';
import { formatBytes } from '../../progress.ts';
import { NameMap } from '../base/name-map.ts';
import type { SyncState } from '../base/state.ts';
import { vaultOfFolder } from '../base/state-file.ts';
import { codeOf, isAsSeen, isLarge, lookAt, looksSame, readPlain, seenOf, Unreadable } from '../folder/file.ts';
import type { LocalFile, SyncedFolder } from '../folder/folder.ts';
import {
  checkFolderPath,
  entryNameOf,
  type FolderPath,
  isBad,
  isReserved,
  OWN_FOLDER,
  parentsOf,
} from '../folder/path.ts';
import type { Rules } from './choice.ts';

/** What is in a folder. */
export interface ScannedEntries {
  readonly files: NameMap<LocalFile>;
  /** Spelling on this disk of the files whose names are not in NFC there. */
  readonly otherForms: Map<FolderPath, string>;
  /** Files that differ from another one only in Unicode form, by their spelling on this disk; also in `skipped`. */
  readonly twins: Map<string, FolderPath>;
  /** Paths that should be synced and cannot be, with the reason for the user. A folder includes everything below it. */
  readonly skipped: Map<string, string>;
  /** Large files to which a program wrote just now, or that are being hashed: until then, nothing is known of them. */
  readonly resting: Set<FolderPath>;
  /** Links and devices, which are never synced. */
  readonly links: Set<string>;
  /** Folders that are or were the mount point of another filesystem. */
  readonly mounts: Set<string>;
  /** Folders that take part, without the root. */
  readonly folders: Set<string>;
  /** Folders with a `.cairn` folder in them. */
  readonly nested: Set<string>;
}

export type Known = Pick<SyncState, 'vault_id' | 'base' | 'only' | 'mounts'>;

/** Milliseconds of scanning before other work gets a turn. */
const TURN_MS = 20;
/** A single sync hashes a large file that changes meanwhile at most so often. */
const HASHES_MAX = 3;
const KEEPS_CHANGING =
  'It is large and a program keeps writing to it. It is synced once it stands still for two seconds.';
const TOO_LARGE = `It is larger than ${formatBytes(limits.largeFileBytesMax)}, the limit of a vault. To exclude it, list it in .cairnignore.`;
const NESTED =
  'This folder syncs the same vault itself. Keep one of them: to sync it as a part of this folder, remove its .cairn.';

export class Scanner {
  readonly found: ScannedEntries;
  /** The files looked at. */
  readonly looked = new Set<FolderPath>();
  readonly #folder: SyncedFolder;
  readonly #known: Known;
  readonly #rules: Rules;
  readonly #onFolder: ((path: string) => void) | undefined;
  /** When the scan began to read files, by the clock of the disk. Undefined: it has read none. */
  #fromMs: number | undefined;
  /** Large files whose hash is not known, with their spelling on this disk. */
  readonly #unhashed = new Map<FolderPath, string>();

  /** `before`: what an earlier scan found, which this one corrects. */
  constructor(
    folder: SyncedFolder,
    known: Known,
    {
      rules,
      onFolder,
      before,
    }: {
      readonly rules: Rules;
      readonly onFolder: ((path: string) => void) | undefined;
      readonly before?: ScannedEntries;
    },
  ) {
    this.#folder = folder;
    this.#known = known;
    this.#rules = rules;
    this.#onFolder = onFolder;
    this.found = before ?? {
      files: new NameMap(),
      otherForms: new Map(),
      twins: new Map(),
      skipped: new Map(),
      resting: new Set(),
      links: new Set(),
      mounts: new Set(known.mounts),
      folders: new Set(),
      nested: new Set(),
    };
  }

  /** Takes all below a folder. Yields when other work should get a turn; it may be a long one. */
  *walk(top: string): Generator<void> {
    const folders = [top];
    let turnEndMs = performance.now() + TURN_MS;
    for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
      this.#onFolder?.(below);
      if (below !== '') this.found.folders.add(below);
      for (const entry of this.#entries(below)) {
        const path = below === '' ? entry.name : `${below}/${entry.name}`;
        const isFolder = entry.isDirectory();
        if (isFolder && entry.name === OWN_FOLDER && below !== '') this.found.nested.add(below);
        if (isReserved(entry.name) || this.#rules.excludes(isFolder ? `${path}/` : path)) continue;
        if (isFolder) {
          folders.push(path);
          this.#noteMount(path);
        } else this.#take(path, entry);
        if (performance.now() < turnEndMs) continue;
        yield;
        turnEndMs = performance.now() + TURN_MS;
      }
    }
  }

  /**
   * Hashes the large files that were found changed, one after another. `comesBack`: they are queued to be hashed beside the
   * syncs, and left for a later scan.
   */
  async hashLarge(comesBack: boolean): Promise<void> {
    for (const [path, onDisk] of this.#unhashed) {
      try {
        const isRestless = comesBack ? this.#leaveForLater(path, onDisk) : !(await this.#hashNow(path, onDisk));
        if (isRestless) this.found.skipped.set(path, KEEPS_CHANGING);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        this.found.skipped.set(path, error.message);
      }
    }
    this.#unhashed.clear();
    const { resting, skipped } = this.found;
    if (![...resting].some((path) => !skipped.has(path))) return;
    // It may be one of them under another name.
    for (const [path, { seen }] of this.#known.base) {
      if (seen !== undefined && isChunked(seen.bytes) && !this.found.files.has(path)) resting.add(path);
    }
  }

  /** True when a program has kept writing to it for long. */
  #leaveForLater(path: FolderPath, onDisk: string): boolean {
    const { large, root } = this.#folder;
    const absolute = join(root.path, onDisk);
    const stats = this.#stat(onDisk);
    if (stats?.isFile() !== true || !isLarge(stats)) {
      large.forget(absolute);
      this.#add(path, onDisk);
      return false;
    }
    this.found.resting.add(path);
    return large.want(absolute, stats) > limits.clientRetryMsMax;
  }

  /** False when a program keeps writing to it. */
  async #hashNow(path: FolderPath, onDisk: string): Promise<boolean> {
    const absolute = join(this.#folder.root.path, onDisk);
    for (let tries = 0; tries < HASHES_MAX; tries += 1) {
      const stats = this.#stat(onDisk);
      if (stats?.isFile() !== true || !isLarge(stats)) {
        this.#add(path, onDisk);
        return true;
      }
      const restMs = this.#folder.large.restMs(stats);
      if (restMs > 0) await sleep(restMs);
      const cut = await this.#folder.large.cut(absolute);
      const after = cut && this.#stat(onDisk);
      if (cut !== undefined && after !== undefined && isAsSeen(after, cut.seen)) {
        this.found.files.set(path, { sha256: cut.sha256, executable: this.#folder.bitOf(after), seen: cut.seen });
        return true;
      }
    }
    return false;
  }

  /** Skips files below an unmounted filesystem. They are not deleted; their state is unknown. */
  leaveOutUnmounted(): void {
    const { root } = this.#folder;
    for (const mount of this.found.mounts) {
      if (root.isElsewhere(mount) !== false || this.#rules.excludes(`${mount}/`)) continue;
      this.#leaveOut(mount, whyUnmounted(root.path));
    }
  }

  /** Skips folders that sync the same vault themselves: each would fill the other with copies of it, without end. */
  leaveOutNested(): void {
    const { path: root } = this.#folder.root;
    for (const below of this.found.nested) {
      if (vaultOfFolder(join(root, below)) === this.#known.vault_id) this.#leaveOut(below, NESTED);
    }
  }

  /**
   * Looks again at a path, as it is on this disk: forgets what was known of it and of everything below, and takes what is
   * there.
   */
  async lookAgain(path: string): Promise<void> {
    // A folder that was not there before is taken as a whole.
    const top = parentsOf(path).find((parent) => !this.found.folders.has(parent)) ?? path;
    this.#forget(top);
    const name = entryNameOf(top);
    const stats = this.#entry(top);
    if (stats === undefined || isReserved(name)) return;
    if (this.#rules.excludes(stats.isDirectory() ? `${top}/` : top)) return;
    if (stats.isDirectory()) {
      this.#noteMount(top);
      for (const _ of this.walk(top)) await setImmediate();
    } else this.#take(top, stats);
  }

  #forget(path: string): void {
    const { files, skipped, resting, links, folders } = this.found;
    this.looked.add(path as FolderPath);
    for (const known of [files, skipped, resting, links]) known.delete(path as FolderPath);
    if (!folders.delete(path)) return;
    const isBelow = (other: string) => other.startsWith(`${path}/`);
    for (const other of files.keys()) {
      if (!isBelow(other)) continue;
      this.looked.add(other);
      files.delete(other);
    }
    for (const known of [skipped, resting, links, folders])
      for (const other of known.keys()) if (isBelow(other)) known.delete(other as FolderPath);
  }

  /** The entry with exactly this name that no link leads to. */
  #entry(path: string): Stats | undefined {
    try {
      if (this.#folder.blocked(path as FolderPath) !== undefined) return undefined;
      const stats = this.#stat(path);
      // A disk that treats names as equal finds an entry under any of them.
      if (stats === undefined || !this.#folder.foldsNames) return stats;
      const below = path.includes('/') ? dirname(path) : '';
      return this.#entries(below).some((entry) => entry.name === path.slice(below === '' ? 0 : below.length + 1))
        ? stats
        : undefined;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.found.skipped.set(path, error.message);
      return undefined;
    }
  }

  #leaveOut(below: string, reason: string): void {
    this.found.skipped.set(below.normalize('NFC'), reason);
    for (const path of this.found.files.keys()) {
      if (path.startsWith(`${below.normalize('NFC')}/`)) this.found.files.delete(path);
    }
  }

  #noteMount(path: string): void {
    if (this.#folder.root.isElsewhere(path) !== true) return;
    if (!parentsOf(path).some((parent) => this.found.mounts.has(parent))) this.found.mounts.add(path);
  }

  #entries(below: string): Dirent[] {
    let entries: Dirent<Buffer>[];
    try {
      entries = readdirSync(join(this.#folder.root.path, below), { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      if (below === '') throw error;
      // When removed since its parent was read, the folder is gone. Otherwise its contents are unknown.
      if (!this.#isAbsent(below)) {
        this.found.skipped.set(below.normalize('NFC'), `The folder cannot be read (${codeOf(error)}).`);
      }
      return [];
    }
    return entries.flatMap((entry) => {
      const bytes = entry.name;
      const name = bytes.toString('utf8');
      if (Buffer.from(name).equals(bytes)) return [Object.assign(entry as unknown as Dirent, { name })];
      this.found.skipped.set(below === '' ? name : `${below}/${name}`, 'The name is not valid UTF-8; rename it.');
      return [];
    });
  }

  #take(path: string, entry: Pick<Dirent, 'isFile'>): void {
    const shown = path.normalize('NFC');
    if (!entry.isFile()) {
      this.found.links.add(shown);
      return;
    }
    const checked = checkFolderPath(path);
    if (isBad(checked)) {
      this.found.skipped.set(shown, checked.bad);
      return;
    }
    try {
      if (path === checked || this.#isOnlyForm(path, checked)) this.#add(checked, path);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.found.skipped.set(shown, error.message);
    }
  }

  /** True when no other file here has the NFC form of this name. */
  #isOnlyForm(path: string, checked: FolderPath): boolean {
    const twin = this.#stat(checked);
    const isTaken = this.found.otherForms.has(checked) || (twin !== undefined && twin.ino !== this.#stat(path)?.ino);
    if (isTaken) {
      this.found.twins.set(path, checked);
      this.found.skipped.set(path, 'Another file differs from it only in Unicode form; remove or rename one of them.');
    } else if (twin === undefined) this.found.otherForms.set(checked, path);
    return !isTaken;
  }

  #add(path: FolderPath, onDisk: string): void {
    this.looked.add(path);
    const stats = this.#stat(onDisk);
    if (stats?.isFile() !== true) return;
    if (stats.size > limits.largeFileBytesMax) {
      // The same sentence while it grows: a watch tells each reason once.
      this.found.skipped.set(path, TOO_LARGE);
      return;
    }
    const executable = this.#folder.bitOf(stats);
    const known = this.#known.base.get(path);
    const { large } = this.#folder;
    if (known?.seen !== undefined && looksSame(stats, known.seen)) {
      if (isLarge(stats)) large.note(join(this.#folder.root.path, onDisk), known.sha256, known.seen);
      // The same value where it can be: a folder may have many files.
      const isSame = known.executable === executable;
      const { sha256, seen } = known;
      this.found.files.set(path, isSame ? (known as LocalFile) : { sha256, executable, seen });
      return;
    }
    if (isLarge(stats)) {
      const hashed = large.seenAs(join(this.#folder.root.path, onDisk), stats);
      if (hashed === undefined) this.#unhashed.set(path, onDisk);
      else this.found.files.set(path, { sha256: hashed.sha256, executable, seen: hashed.seen });
      return;
    }
    this.#fromMs ??= this.#folder.timeMs();
    const sha256 = readPlain(join(this.#folder.root.path, onDisk))?.sha256;
    if (sha256 === undefined) this.#folder.root.check();
    else this.found.files.set(path, { sha256, executable, seen: seenOf(stats, this.#fromMs) });
  }

  /** False when it exists or cannot be inspected. */
  #isAbsent(path: string): boolean {
    try {
      return this.#stat(path) === undefined;
    } catch (error) {
      if (error instanceof Unreadable) return false;
      throw error;
    }
  }

  /**
   * Undefined when nothing is there. Throws RootGone when the root is away: it may be back before the scan ends, and what was
   * not found meanwhile would count as deleted.
   */
  #stat(path: string): Stats | undefined {
    const stats = lookAt(join(this.#folder.root.path, path));
    if (stats === undefined) this.#folder.root.check();
    return stats;
  }
}

function whyUnmounted(root: string): string {
  const [deletes, restores] = ['allow-deletes', 'restore-missing'].map((word) => nextCommand(root, `sync --${word}`));
  return `The filesystem that was mounted here is gone. Mount it again. If it is permanently gone, \`${deletes}\` deletes its files on the hub, and \`${restores}\` brings them back here.`;
}
