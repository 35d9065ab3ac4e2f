/**
 * Writes and removes files of a synced folder: only inside the folder, never through a link, and without losing
 * unsynced bytes. A replaced or removed file is first moved aside and hashed there, which detects a save at that
 * moment.
 */
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Asides } from './asides.ts';
import {
  type Content,
  codeOf,
  isExecutable,
  isLarge,
  lookAt,
  readPlain,
  type SeenFile,
  seenAsPlaced,
  sha256Of,
  Unreadable,
} from './file.ts';
import { dropPartsIn, type Placed, placeNew, removeIncoming } from './incoming.ts';
import { LargeFiles } from './large-files.ts';
import { makeFolderAt, makeParents } from './make-folder.ts';
import { dress, type Look, storesExecutable, timeOfDisk } from './modes.ts';
import { type FolderPath, OWN_FOLDER, parentsOf } from './path.ts';
import { Root } from './root.ts';
import { Saves } from './saves.ts';
import { Touched } from './touched.ts';
import { Unsettled } from './unsettled.ts';
import { CLASH, OTHER, Unwritable, unwritable } from './unwritable.ts';

/** A file with its hash and metadata. */
export interface LocalFile {
  readonly sha256: string;
  /** Undefined: the disk does not store it. */
  readonly executable: boolean | undefined;
  readonly seen: SeenFile;
}

/** A file in the `.cairn` folder that is about to get its name. */
interface Incoming {
  readonly incoming: string;
  readonly write: () => void;
  readonly size: number;
  /** Has what was written, and is at its target now, brought to the disk by the next `settle`. */
  readonly settle: (target: string, placed: Placed) => void;
  readonly sha256: () => string;
  /** True when it is kept for another try, where it cannot be placed. */
  readonly stays: boolean;
}

const ENDS_IN_DOT = 'This disk drops a dot at the end of a name; rename the file on another device to have it here.';
const UNKNOWN = 'It is large and changed just now; the next sync looks at it again.';
const LINK = 'The path goes through a symbolic link here; remove the link to sync it.';

export class SyncedFolder {
  readonly root: Root;
  readonly asides: Asides;
  readonly saves: Saves;
  readonly large = new LargeFiles(() => this.timeMs());
  readonly touched = new Touched();
  readonly #unsettled = new Unsettled();
  #storesBit: boolean | undefined;
  #foldsNames: boolean | undefined;

  constructor(folder: string) {
    this.root = Root.open(folder);
    this.asides = new Asides(join(this.root.path, OWN_FOLDER), this.large);
    this.saves = new Saves(join(this.root.path, OWN_FOLDER));
  }

  /** Path of an entry inside the `.cairn` folder. */
  own(name: string): string {
    return join(this.root.path, OWN_FOLDER, name);
  }

  /** Creates the `.cairn` folder, but not the synced folder around it, which may be moved away at any moment. */
  makeOwn(): void {
    this.root.check();
    if (this.root.hasOwnFolder) return;
    try {
      makeFolderAt(this.own(''), 0o700);
    } catch (error) {
      this.root.check();
      throw error;
    }
  }

  /** Keeps the `.cairn` folder out of a git repository: `git add` and `git clean` leave out what is ignored. */
  hideFromGit(): void {
    const path = this.own('.gitignore');
    try {
      // On a full disk it is created and stays empty.
      if ((lookAt(path)?.size ?? 0) === 0) writeFileSync(path, '*\n');
    } catch {
      // The disk is full: the next sync tries again.
    }
  }

  /** True when the disk finds an entry under other spellings of its name. */
  get foldsNames(): boolean {
    this.#foldsNames ??= lookAt(this.own('.GITIGNORE')) !== undefined;
    return this.#foldsNames;
  }

  /** True when the disk drops dots at the end of a name, as vfat does: it would store another name. */
  get #dropsDots(): boolean {
    return lookAt(this.own('.gitignore.')) !== undefined;
  }

  /** The executable bit of a file; undefined when the disk does not store it. */
  bitOf(stats: Stats): boolean | undefined {
    return this.#hasBit ? isExecutable(stats) : undefined;
  }

  /** Time by the clock of the disk, which may be a file server's (milliseconds since 1970). */
  timeMs(): number {
    return timeOfDisk(this.own('')) ?? Date.now();
  }

  get #hasBit(): boolean {
    this.#storesBit ??= storesExecutable(this.own(''));
    return this.#storesBit;
  }

  at(path: FolderPath): string {
    return join(this.root.path, path);
  }

  /** Why a path cannot exist: a parent is a link or not a folder. Undefined when the path is free of obstacles. */
  blocked(path: FolderPath): string | undefined {
    for (const parent of parentsOf(path)) {
      const stats = lookAt(join(this.root.path, parent));
      if (stats?.isSymbolicLink() === true) return LINK;
      if (stats?.isDirectory() === false) return CLASH;
    }
    return undefined;
  }

  /**
   * The content of a plain file not reached through a link; undefined when there is none. That of a large file has no bytes.
   * Throws Unreadable, also for a large file whose hash is not known.
   */
  read(path: FolderPath): Content | undefined {
    if (this.blocked(path) !== undefined) return undefined;
    const absolute = this.at(path);
    const stats = lookAt(absolute);
    if (stats?.isFile() !== true || !isLarge(stats)) return readPlain(absolute, (one) => this.bitOf(one));
    const sha256 = this.large.sha256Of(absolute, stats);
    if (sha256 === undefined) throw new Unreadable(UNKNOWN);
    const { size, mtimeMs } = stats;
    return { bytes: undefined, size, sha256, executable: this.bitOf(stats), modifiedMs: Math.floor(mtimeMs) };
  }

  /** Removes what downloads left that are no longer wanted. */
  dropParts(isWanted: (sha256: string) => boolean): void {
    dropPartsIn(this.own('incoming'), isWanted);
  }

  /** A large file as a scan finds it; undefined when its hash is not known. */
  look(path: FolderPath): LocalFile | undefined {
    const stats = lookAt(this.at(path));
    const known = stats && this.large.seenAs(this.at(path), stats);
    return stats && known && { ...known, executable: this.bitOf(stats) };
  }

  /** Absolute path of the file in which a download of this content is collected. Throws Unwritable. */
  partOf(sha256: string): string {
    try {
      makeFolderAt(this.own('incoming'), 0o700);
    } catch (error) {
      throw unwritable(error);
    }
    return this.own(join('incoming', `${sha256}.part`));
  }

  /** False when this user may not change the folder that contains, or would contain, this path. */
  mayChange(path: FolderPath): boolean {
    for (const parent of [...parentsOf(path).reverse(), '']) {
      try {
        accessSync(join(this.root.path, parent), constants.W_OK | constants.X_OK);
        return true;
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') return false;
      }
    }
    return false;
  }

  /** True when no entry has this path, not even a link. */
  isAbsent(path: FolderPath): boolean {
    return lookAt(this.at(path)) === undefined;
  }

  /** True when another entry has this path, or that of a folder above it. */
  isReplaced(path: FolderPath): boolean {
    try {
      return this.blocked(path) !== undefined || !this.isAbsent(path);
    } catch (error) {
      if (error instanceof Unreadable) return false;
      throw error;
    }
  }

  /**
   * Writes a file in place of the one with the hash `expected`, undefined for none. False when another file is there;
   * that one stays. Throws Unwritable, RootGone.
   */
  put(path: FolderPath, bytes: Uint8Array, expected: string | undefined, look: Look = {}): LocalFile | false {
    const incoming = this.own(join('incoming', randomUUID()));
    let descriptor: number | undefined;
    // Also where closing fails, as on a network disk, the number belongs to somebody else from then on.
    const close = () => {
      const open = descriptor;
      descriptor = undefined;
      if (open !== undefined) closeSync(open);
    };
    const write = () => {
      descriptor = withFolder(
        () => openSync(incoming, 'wx', 0o666),
        () => makeFolderAt(dirname(incoming), 0o700),
      );
      writeFileSync(descriptor, bytes);
      if (!mayStayOpen(look)) close();
    };
    const settle = (target: string, placed: Placed) => {
      // Where it had to be copied, another file is there.
      if (descriptor === undefined || placed === 'copied') {
        this.#unsettled.add(target);
        return;
      }
      const open = descriptor;
      descriptor = undefined;
      this.#unsettled.addOpen(open, target);
    };
    const sha256 = () => look.sha256 ?? sha256Of(bytes);
    try {
      return this.#place(path, { incoming, write, size: bytes.length, settle, sha256, stays: false }, expected, look);
    } finally {
      close();
    }
  }

  /** Like `put`, with a file in the `.cairn` folder that has this hash and size. It is moved, or stays when it fails. */
  place(
    path: FolderPath,
    { absolute, sha256, size }: { readonly absolute: string; readonly sha256: string; readonly size: number },
    expected: string | undefined,
    look: Look,
  ): LocalFile | false {
    const settle = (target: string) => this.#unsettled.add(target);
    const file = { incoming: absolute, write: () => undefined, size, settle, sha256: () => sha256, stays: true };
    const placed = this.#place(path, file, expected, look);
    if (placed !== false) this.large.note(this.at(path), sha256, placed.seen);
    return placed;
  }

  #place(
    path: FolderPath,
    { incoming, write, size, settle, sha256, stays }: Incoming,
    expected: string | undefined,
    look: Look,
  ): LocalFile | false {
    this.touched.add(path);
    const target = this.#target(path);
    let placed: Placed | false = false;
    try {
      const before = lookAt(target);
      if (before?.isDirectory() === true) rmdirSync(target);
      else if (before?.isFile() === false) throw new Unwritable(OTHER);
      else if ((before === undefined) !== (expected === undefined)) return false;
      write();
      dress(incoming, before?.mode, look, this.#hasBit);
      if (expected !== undefined && !this.asides.take(path, target, expected)) return false;
      placed = withFolder(
        () => placeNew(incoming, target),
        () => makeParents(this.root.path, path),
      );
      if (placed === false) return false;
    } catch (error) {
      throw unwritable(error);
    } finally {
      if (placed !== false || !stays) removeIncoming(incoming);
    }
    this.#unsettled.add(dirname(target));
    const stats = lstatSync(target);
    settle(target, placed);
    return {
      sha256: sha256(),
      executable: this.bitOf(stats),
      seen: seenAsPlaced(stats, { size, modifiedMs: placed === 'moved' ? look.modifiedMs : undefined }),
    };
  }

  /** Sets the attributes of a file whose bytes are already right. Throws Unwritable, RootGone. */
  dress(path: FolderPath, look: Look): void {
    this.touched.add(path);
    const target = this.#target(path);
    try {
      dress(target, lookAt(target)?.mode, look, this.#hasBit);
    } catch (error) {
      throw unwritable(error);
    }
  }

  /**
   * Removes the file with the hash `expected`, and folders left empty. False when another is there. Throws like `put`.
   */
  remove(path: FolderPath, expected: string): boolean {
    this.touched.add(path);
    const target = this.#target(path);
    try {
      if (lookAt(target)?.isFile() !== true || !this.asides.take(path, target, expected)) return false;
    } catch (error) {
      throw unwritable(error);
    }
    this.#removeEmpty(path);
    return true;
  }

  /**
   * Renames a file or changes its spelling, with any content. False when another file has that name. Throws like `put`.
   */
  rename(from: FolderPath | string, to: FolderPath): boolean {
    this.touched.add(from).add(to);
    const target = this.#target(to);
    const source = join(this.root.path, from);
    try {
      const there = lookAt(target);
      // A disk that treats both names as equal returns the same file for both.
      if (there !== undefined && there.ino !== lookAt(source)?.ino) return false;
      const before = lookAt(source);
      makeParents(this.root.path, to);
      renameSync(source, target);
      this.large.moved(source, target, before);
    } catch (error) {
      throw unwritable(error);
    }
    this.#unsettled.add(dirname(target));
    this.#removeEmpty(from);
    return true;
  }

  /** Flushes all files written so far to the disk, so that a power failure cannot lose them. */
  async settle(): Promise<void> {
    await this.#unsettled.settle();
  }

  #target(path: FolderPath): string {
    this.root.check();
    try {
      const reason = this.blocked(path);
      if (reason !== undefined) throw new Unwritable(reason);
      if (/\.(\/|$)/.test(path) && this.#dropsDots) throw new Unwritable(ENDS_IN_DOT);
    } catch (error) {
      throw unwritable(error);
    }
    return this.at(path);
  }

  #removeEmpty(path: string): void {
    for (const parent of parentsOf(path).reverse()) {
      try {
        rmdirSync(join(this.root.path, parent));
      } catch {
        // Not empty, so this folder and those above it stay.
        return;
      }
    }
  }
}

/** False for a file that other programs need at once: Linux runs no file that is open for writing, and Windows does not share it. */
function mayStayOpen({ executable }: Look): boolean {
  return executable !== true && process.platform !== 'win32';
}

/** Does something in a folder that is rarely missing; only then it is made. */
function withFolder<T>(work: () => T, makeFolder: () => void): T {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  makeFolder();
  return work();
}
