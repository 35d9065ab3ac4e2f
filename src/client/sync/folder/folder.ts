/**
 * Owns how files of a synced folder are written and removed: inside the folder, never through a link, and nothing unseen
 * lost. What is replaced or removed is moved aside first and hashed there, so that a save in that moment is noticed.
 */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Asides } from './asides.ts';
import { type Content, codeOf, lookAt, readPlain, type Seen, seenOf, sha256Of } from './file.ts';
import { type FolderPath, OWN_FOLDER, parentsOf } from './path.ts';
import { Root } from './root.ts';
import { Saves } from './saves.ts';

/** A path that cannot be written here, with the reason for the user. */
export class Unwritable extends Error {
  override readonly name = 'Unwritable';
}

/** A file as a sync knows it. */
export interface LocalFile {
  readonly sha256: string;
  readonly executable: boolean;
  readonly seen: Seen;
}

/** What a written file is like, beside its bytes. Undefined: as it is, or as a new file is. */
export interface Look {
  readonly executable?: boolean | undefined;
  readonly modifiedMs?: number | undefined;
}

const SETTLED_AT_ONCE = 256;
const LINK = 'The path goes through a symbolic link here; remove the link to sync it.';
const CLASH = 'A file and a folder have the same name; rename or remove the one here.';
const OTHER = 'A link, folder or device has this name here; rename or remove it.';

export class SyncedFolder {
  readonly root: Root;
  readonly asides: Asides;
  readonly saves: Saves;
  /** Files and folders written since the last `settle`. */
  readonly #unsettled = new Set<string>();

  constructor(folder: string) {
    this.root = Root.open(folder);
    this.asides = new Asides(join(this.root.path, OWN_FOLDER));
    this.saves = new Saves(join(this.root.path, OWN_FOLDER));
  }

  /** A file of Cairn's own. */
  own(name: string): string {
    return join(this.root.path, OWN_FOLDER, name);
  }

  at(path: FolderPath): string {
    return join(this.root.path, path);
  }

  /** Why nothing can be at a path: something else than a folder is on the way. Undefined: nothing is. */
  blocked(path: FolderPath): string | undefined {
    for (const parent of parentsOf(path)) {
      const stats = lookAt(join(this.root.path, parent));
      if (stats?.isSymbolicLink() === true) return LINK;
      if (stats?.isDirectory() === false) return CLASH;
    }
    return undefined;
  }

  /** The bytes of a plain file that no link leads to; undefined: there is none. Throws Unreadable. */
  read(path: FolderPath): Content | undefined {
    return this.blocked(path) === undefined ? readPlain(this.at(path)) : undefined;
  }

  /** Whether there is nothing at a path, not even a link. */
  isAbsent(path: FolderPath): boolean {
    return lookAt(this.at(path)) === undefined;
  }

  /**
   * Writes a file in the place of the one with the hash `expected`, undefined for none. False: another one is there, and it
   * stays. Throws Unwritable, RootGone.
   */
  put(path: FolderPath, bytes: Uint8Array, expected: string | undefined, look: Look = {}): LocalFile | false {
    const target = this.#target(path);
    const incoming = this.own(join('incoming', randomUUID()));
    try {
      mkdirSync(dirname(incoming), { recursive: true, mode: 0o700 });
      mkdirSync(dirname(target), { recursive: true });
      const before = lookAt(target);
      if (before?.isDirectory() === true) rmdirSync(target);
      else if (before?.isFile() === false) throw new Unwritable(OTHER);
      else if ((before === undefined) !== (expected === undefined)) return false;
      writeFileSync(incoming, bytes, { flag: 'wx', mode: 0o666 });
      dress(incoming, before?.mode, look);
      if (expected !== undefined && !this.asides.take(path, target, expected)) return false;
      if (!placeNew(incoming, target)) return false;
    } catch (error) {
      throw unwritable(error);
    } finally {
      rmSync(incoming, { force: true });
    }
    this.#unsettled.add(target).add(dirname(target));
    const stats = lstatSync(target);
    return {
      sha256: sha256Of(bytes),
      executable: (stats.mode & 0o100) !== 0,
      seen: seenOf(stats, Date.now()),
    };
  }

  /** Sets what a file is like, where its bytes are right already. Throws Unwritable, RootGone. */
  dress(path: FolderPath, look: Look): void {
    const target = this.#target(path);
    try {
      dress(target, lookAt(target)?.mode, look);
    } catch (error) {
      throw unwritable(error);
    }
  }

  /** Removes the file with the hash `expected`, and folders left empty. False: another is there. Throws as `put` does. */
  remove(path: FolderPath, expected: string): boolean {
    const target = this.#target(path);
    try {
      if (lookAt(target)?.isFile() !== true || !this.asides.take(path, target, expected)) return false;
    } catch (error) {
      throw unwritable(error);
    }
    this.#removeEmpty(path);
    return true;
  }

  /** Moves a file to another name or spelling, whatever is in it. False: another file has that name. Throws as `put` does. */
  rename(from: FolderPath | string, to: FolderPath): boolean {
    const target = this.#target(to);
    const source = join(this.root.path, from);
    const there = lookAt(target);
    // A disk that takes both names for one shows the file itself.
    if (there !== undefined && there.ino !== lookAt(source)?.ino) return false;
    try {
      mkdirSync(dirname(target), { recursive: true });
      renameSync(source, target);
    } catch (error) {
      throw unwritable(error);
    }
    this.#unsettled.add(dirname(target));
    this.#removeEmpty(from);
    return true;
  }

  /** Makes sure that a power cut loses nothing that was written until now. */
  async settle(): Promise<void> {
    const paths = [...this.#unsettled];
    this.#unsettled.clear();
    // Many at once share one write of the disk's journal.
    for (let at = 0; at < paths.length; at += SETTLED_AT_ONCE) {
      await Promise.all(paths.slice(at, at + SETTLED_AT_ONCE).map(settleOne));
    }
  }

  #target(path: FolderPath): string {
    this.root.check();
    const reason = this.blocked(path);
    if (reason !== undefined) throw new Unwritable(reason);
    return this.at(path);
  }

  #removeEmpty(path: string): void {
    for (const parent of parentsOf(path).reverse()) {
      try {
        rmdirSync(join(this.root.path, parent));
      } catch {
        // It is not empty: it stays, and so do the folders above it.
        return;
      }
    }
  }
}

async function settleOne(absolute: string): Promise<void> {
  try {
    const handle = await open(absolute, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Removed or closed to us since: then there is nothing of ours to keep.
  }
}

/** Puts a file where none is. False: there is one. */
function placeNew(incoming: string, target: string): boolean {
  try {
    linkSync(incoming, target);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
  }
  // A disk without hard links.
  try {
    copyFileSync(incoming, target, constants.COPYFILE_EXCL);
    const { atime, mtime } = lstatSync(incoming);
    utimesSync(target, atime, mtime);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Gives a file the permissions of the one that it replaces, and the executable bit and time of the hub's side. */
function dress(absolute: string, modeBefore: number | undefined, { executable, modifiedMs }: Look): void {
  const mode = (modeBefore ?? lstatSync(absolute).mode) & 0o777;
  // Whoever may read it may run it, as `chmod +x` does under a usual umask.
  const wanted = executable === undefined ? mode : executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
  if (modeBefore !== undefined || wanted !== mode) chmodSync(absolute, wanted);
  if (modifiedMs !== undefined) utimesSync(absolute, modifiedMs / 1000, modifiedMs / 1000);
}

function unwritable(error: unknown): Error {
  switch (codeOf(error)) {
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EISDIR':
      return new Unwritable(CLASH);
    case 'ENOTEMPTY':
      return new Unwritable(OTHER);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Unwritable(`It may not be written here (${codeOf(error)}).`);
    case 'ENAMETOOLONG':
    case 'EINVAL':
    case 'EILSEQ':
      return new Unwritable(`This disk does not accept the name (${codeOf(error)}).`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new Unwritable(`The disk is full (${codeOf(error)}); make room.`);
    case 'EIO':
    case 'EFBIG':
    case 'EBUSY':
    case 'ETXTBSY':
    case 'ENOTCONN':
    case 'ESTALE':
      return new Unwritable(`It cannot be written here (${codeOf(error)}).`);
    default:
      return error as Error;
  }
}
