/** Owns how one file is looked at and read: without following a link, without waiting for a pipe. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/** How a file looked when it was hashed, so that it need not be read again: bytes, times in milliseconds, inode. */
export interface Seen {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly changedMs: number;
  readonly inode: number;
  readonly hashedMs: number;
}

export interface Content {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly executable: boolean;
  readonly modifiedMs: number;
}

/** A file that is there and cannot be read, with the reason for the user. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** Not following a link at the end of a path; Windows has no such flag, and `O_NONBLOCK` keeps a pipe from blocking. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** A file that changed this shortly before it was hashed may change again without another time stamp. */
const RACY_MS = 2000;
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK']);

/** How an entry looks, links not followed; undefined: there is none. Throws Unreadable. */
export function lookAt(absolute: string): Stats | undefined {
  try {
    return lstatSync(absolute);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new Unreadable(`It cannot be read (${codeOf(error)}).`);
  }
}

/** The bytes of a plain file; undefined: there is none. Throws Unreadable. */
export function readPlain(absolute: string): Content | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(absolute, READ);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    const bytes = readFileSync(descriptor);
    return {
      bytes,
      sha256: sha256Of(bytes),
      executable: isExecutable(stats),
      modifiedMs: Math.floor(stats.mtimeMs),
    };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new Unreadable(`It cannot be read (${codeOf(error)}).`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Whether its owner may run it. Windows has no such bit. */
export function isExecutable({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & 0o100) !== 0;
}

/** How a file looks, for a later comparison. */
export function seenOf(stats: Stats, hashedMs: number): Seen {
  return { bytes: stats.size, modifiedMs: stats.mtimeMs, changedMs: stats.ctimeMs, inode: stats.ino, hashedMs };
}

/** Whether a file looks as it did when it was hashed, long enough before that moment. */
export function looksSame(stats: Stats, seen: Seen): boolean {
  return (
    stats.size === seen.bytes &&
    stats.mtimeMs === seen.modifiedMs &&
    stats.ctimeMs === seen.changedMs &&
    stats.ino === seen.inode &&
    Math.max(seen.modifiedMs, seen.changedMs) < seen.hashedMs - RACY_MS
  );
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

function isAbsent(error: unknown): boolean {
  return ABSENT.has(codeOf(error));
}
