/** Inspects and reads single files, without following a link or blocking on a pipe. */
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { isChunked } from '../../../limits/large-file.ts';

/** Metadata of a file when it was hashed, to avoid reading it again: bytes, times in milliseconds, inode. */
export interface SeenFile {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly changedMs: number;
  readonly inode: number;
  /** When it was hashed at the earliest, by the clock of the disk. */
  readonly hashedMs: number;
  /**
   * True for a file that a sync wrote under another name and gave its time before it got this name: what writes to it
   * afterwards gives it a newer one.
   */
  readonly isPlaced?: true | undefined;
}

export interface Content {
  /** Undefined: the file is large, and not read into memory. */
  readonly bytes: Buffer | undefined;
  readonly size: number;
  readonly sha256: string;
  /** Undefined: the disk does not store it. */
  readonly executable: boolean | undefined;
  readonly modifiedMs: number;
}

/** The content of a file that is not large. */
export interface ReadContent extends Content {
  readonly bytes: Buffer;
}

export function isWhole(content: Content | undefined): content is ReadContent {
  return content?.bytes !== undefined;
}

/** An existing file that cannot be read, with the reason for the user. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** Does not follow a link at the end of a path (Windows has no such flag); `O_NONBLOCK` prevents blocking on a pipe. */
export const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** A file that changed this shortly before it was hashed may change again without a new time stamp. */
const RACY_MS = 2000;
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK']);

/** Metadata of an entry, without following links; undefined when it does not exist. Throws Unreadable. */
export function lookAt(absolute: string): Stats | undefined {
  try {
    // An error of the system costs more than the look: it records where it was thrown.
    return lstatSync(absolute, { throwIfNoEntry: false });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new Unreadable(`It cannot be read (${codeOf(error)}).`);
  }
}

/** Like `lookAt`; undefined also for an entry that cannot be inspected. */
export function lookIfReadable(absolute: string): Stats | undefined {
  try {
    return lookAt(absolute);
  } catch {
    // In a folder that this user may not enter.
    return undefined;
  }
}

/** True for a file that is not read into memory as a whole. */
export function isLarge({ size }: Pick<Stats, 'size'>): boolean {
  return isChunked(size);
}

/** The content of a plain file that is not large; undefined when there is none. Throws Unreadable. */
export function readPlain(
  absolute: string,
  bitOf: (stats: Stats) => boolean | undefined = isExecutable,
): ReadContent | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(absolute, READ);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    if (isLarge(stats)) throw new Unreadable('It is too large to be read at once.');
    const bytes = stats.size === 0 ? readFileSync(descriptor) : readAll(descriptor, stats.size);
    return {
      bytes,
      size: bytes.length,
      sha256: sha256Of(bytes),
      executable: bitOf(stats),
      modifiedMs: Math.floor(stats.mtimeMs),
    };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error instanceof Unreadable ? error : new Unreadable(`It cannot be read (${codeOf(error)}).`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** What an open file has, up to the size that it had when it was opened. */
function readAll(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let read = 0;
  while (read < size) {
    const more = readSync(descriptor, bytes, read, size - read, null);
    if (more === 0) return bytes.subarray(0, read);
    read += more;
  }
  return bytes;
}

export function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/** True when the owner may execute the file. Meaningless on a disk that does not store this bit. */
export function isExecutable({ mode }: Stats): boolean {
  return (mode & 0o100) !== 0;
}

/** Metadata of a file for a later comparison. */
export function seenOf(stats: Stats, hashedMs: number, isPlaced?: true): SeenFile {
  const { size: bytes, mtimeMs: modifiedMs, ctimeMs: changedMs, ino: inode } = stats;
  return { bytes, modifiedMs, changedMs, inode, hashedMs, isPlaced };
}

/** True when the metadata is the same. A change within the resolution of the disk's clock leaves it so. */
export function isAsSeen(stats: Stats, seen: SeenFile): boolean {
  return (
    stats.size === seen.bytes &&
    stats.mtimeMs === seen.modifiedMs &&
    stats.ctimeMs === seen.changedMs &&
    stats.ino === seen.inode
  );
}

/**
 * Metadata of a file that a sync placed. What was given this size and time (milliseconds since 1970) before it got its name counts
 * as such where the disk has both; whatever differs was written since, or rounded.
 */
export function seenAsPlaced(
  stats: Stats,
  { size, modifiedMs }: { readonly size: number; readonly modifiedMs: number | undefined },
): SeenFile {
  const isPlaced = stats.size === size && Math.floor(stats.mtimeMs) === modifiedMs;
  return seenOf(stats, stats.ctimeMs, isPlaced ? true : undefined);
}

/**
 * True when the metadata is unchanged since the hash, and the last change was long enough before it ("racily clean" in git's
 * racy-git.txt).
 */
export function looksSame(stats: Stats, seen: SeenFile): boolean {
  const { modifiedMs, changedMs, hashedMs, isPlaced } = seen;
  const lastMs = isPlaced === true ? modifiedMs : Math.max(modifiedMs, changedMs);
  return isAsSeen(stats, seen) && lastMs < hashedMs - RACY_MS;
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

export function isAbsent(error: unknown): boolean {
  return ABSENT.has(codeOf(error));
}
