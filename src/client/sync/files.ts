/** Owns how files of a synced folder are written and removed: whole or not at all, inside the folder, nothing unseen lost. */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isOwn, type LocalFile, looksOf, statOf } from './scan.ts';
import { OWN_FOLDER } from './state.ts';

/** A path that may not be written here, with the reason for the user. */
export class Unwritable extends Error {
  override readonly name = 'Unwritable';
}

export interface Content {
  readonly bytes: Buffer;
  readonly sha256: string;
}

/** The bytes of a file; undefined: there is none, or it is no plain file. */
export function readContent(folder: string, path: string): Content | undefined {
  if (statOf(folder, path) === undefined) return undefined;
  const bytes = readFileSync(join(folder, path));
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/**
 * Writes a file, aside and then in its place. `expected`: the hash that it must have until then, undefined for no file; a
 * file that was changed meanwhile stays, and false is the answer. Throws Unwritable.
 */
export function writeContent(
  folder: string,
  path: string,
  bytes: Uint8Array,
  expected: string | undefined,
): LocalFile | false {
  checkWritable(folder, path);
  const target = join(folder, path);
  const aside = join(folder, OWN_FOLDER, `incoming-${randomUUID()}`);
  mkdirSync(join(folder, OWN_FOLDER), { recursive: true, mode: 0o700 });
  try {
    writeSynced(aside, bytes);
    mkdirSync(dirname(target), { recursive: true });
    if (readContent(folder, path)?.sha256 !== expected || isOther(target)) return false;
    renameSync(aside, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'EISDIR')
      throw new Unwritable('a file and a folder have one name here');
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  const stats = lstatSync(target);
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    seen: { ...looksOf(stats), hashedMs: Date.now() },
  };
}

/** Removes a file that still has the expected hash, and folders that are empty then. False: it was changed, and stays. */
export function removeContent(folder: string, path: string, expected: string): boolean {
  checkWritable(folder, path);
  if (readContent(folder, path)?.sha256 !== expected) return false;
  rmSync(join(folder, path));
  removeEmpty(folder, dirname(path));
  return true;
}

/** Gives a file another spelling of its name. False: another file has that name. Throws Unwritable. */
export function respell(folder: string, from: string, to: string): boolean {
  checkWritable(folder, to);
  const target = join(folder, to);
  const there = lstatSync(target, { throwIfNoEntry: false });
  // A disk that takes both names for one shows the file itself.
  if (there !== undefined && there.ino !== statOf(folder, from)?.ino) return false;
  mkdirSync(dirname(target), { recursive: true });
  renameSync(join(folder, from), target);
  removeEmpty(folder, dirname(from));
  return true;
}

function removeEmpty(folder: string, path: string): void {
  for (let at = path; at !== '.'; at = dirname(at)) {
    try {
      rmdirSync(join(folder, at));
    } catch {
      // It holds something: it stays, and so do the folders above it.
      break;
    }
  }
}

/** The hub checks paths; this folder does not rely on it: no way out, no way through a link. */
function checkWritable(folder: string, path: string): void {
  const parts = path.split('/');
  if (isOwn(path)) throw new Unwritable('it belongs to git or to cairn itself');
  if (
    parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\\') || part.includes('\0'))
  ) {
    throw new Unwritable('the hub gave a path that leads out of the folder');
  }
  for (let length = 1; length < parts.length; length += 1) {
    const stats = lstatSync(join(folder, ...parts.slice(0, length)), { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() === true) throw new Unwritable('it lies behind a link');
    if (stats !== undefined && !stats.isDirectory()) throw new Unwritable('a file and a folder have one name here');
  }
}

/** Something that is there and is no plain file: a link, a folder. */
function isOther(target: string): boolean {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile();
}

function writeSynced(path: string, bytes: Uint8Array): void {
  const descriptor = openSync(path, 'wx', 0o666);
  try {
    writeFileSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
