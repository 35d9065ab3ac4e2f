/**
 * Defines the paths that a sync may touch. Every path from a hub or the disk is converted to a `FolderPath` once, here,
 * before any file is read, written or removed; no other module uses an unchecked string. Pure.
 */
import { foldCase } from '../../../text/fold-case.ts';
import { whyNotOnWindows } from './windows-names.ts';

declare const checked: unique symbol;

/** A path inside the folder: relative, in NFC, with forward slashes, and not inside `.git` or `.cairn`. */
export type FolderPath = string & { readonly [checked]: true };

/** Cairn's folder inside a synced folder; never synced. */
export const OWN_FOLDER = '.cairn';

/** Control and format characters, which can affect a terminal; excludes the two joiners needed in words and emoji. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;
/** Characters that HFS+ and others ignore when comparing names (CVE-2014-9390). */
const IGNORED = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Endings that Windows drops from a name, and file streams, which it treats as the file itself (CVE-2019-1352). */
const STREAM = /:.*$/;
const DROPPED = /[. ]+$/;
/** Names of folders that no peer may write to, including their short names on Windows. */
const RESERVED = /^(\.git|git~\d+|\.cairn|cairn~\d+)$/;
/** Begins like none of them, and has only characters that every disk compares alike. */
const ORDINARY = /^(?![.gcGC])[\x20-\x7e]+$/;
const PATH_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 255;

/** A path not allowed in this folder, with the reason for the user. */
export interface BadPath {
  readonly bad: string;
}

/**
 * Checks a path. An invalid path is never repaired; the only change is the conversion to NFC. `platform`: as Node.js names it;
 * one system refuses what others hold.
 */
export function checkFolderPath(given: string, platform: string = process.platform): FolderPath | BadPath {
  if (given === '') return { bad: 'The path is empty.' };
  if (Buffer.byteLength(given) > PATH_BYTES_MAX) {
    return { bad: `The path is longer than ${PATH_BYTES_MAX} bytes; shorten the names of its folders.` };
  }
  if (!given.isWellFormed()) return { bad: 'The path is not well-formed Unicode.' };
  if (HIDDEN.test(given)) return { bad: 'The path contains control or invisible characters; rename the file.' };
  if (given.includes('\\')) return { bad: 'The path contains a backslash; rename the file.' };
  const parts = given.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return { bad: 'The path points outside the folder.' };
  }
  if (parts.some((part) => Buffer.byteLength(part) > NAME_BYTES_MAX)) return { bad: 'A name in the path is too long.' };
  if (parts.some(isReserved)) return { bad: "The path belongs to git or to Cairn's own folder." };
  const why = platform === 'win32' ? whyNotOnWindows(given) : undefined;
  if (why !== undefined) return { bad: `${why} Rename the file on another device to have it here.` };
  return given.normalize('NFC') as FolderPath;
}

/** True for a name of git's or Cairn's folder, in any spelling that some disk treats as equal. */
export function isReserved(name: string): boolean {
  if (ORDINARY.test(name)) return false;
  return RESERVED.test(foldCase(name.normalize('NFKC').replace(IGNORED, '')).replace(STREAM, '').replace(DROPPED, ''));
}

/** True when the path was refused. */
export function isBad(path: FolderPath | BadPath): path is BadPath {
  return typeof path !== 'string';
}

/** The parent folders of a path, the outermost first. */
export function parentsOf(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}

/** The name of an entry without its folders. */
export function entryNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
