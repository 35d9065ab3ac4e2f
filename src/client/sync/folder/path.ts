/**
 * Owns the paths that a sync may touch. Every path, from a hub or from the disk, becomes a `FolderPath` here, once, before
 * anything is read, written or removed; nothing else takes a plain string. Pure.
 */
import { foldCase } from '../../../text/fold-case.ts';

declare const checked: unique symbol;

/** A path inside the folder: relative, in NFC, with forward slashes, and not one of git's or Cairn's own. */
export type FolderPath = string & { readonly [checked]: true };

/** Cairn's folder inside a synced folder; never synced. */
export const OWN_FOLDER = '.cairn';

/** Control and format characters, which a terminal or an editor would act on, except the two joiners that spell words and emoji. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;
/** Characters that HFS+ and others ignore when they compare names (CVE-2014-9390). */
const IGNORED = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** What Windows drops from the end of a name, and the streams of a file that it takes for the file (CVE-2019-1352). */
const STREAM = /:.*$/;
const DROPPED = /[. ]+$/;
/** Names of the folders that no peer may write to, also as the short names that Windows gives them. */
const RESERVED = /^(\.git|git~\d+|\.cairn|cairn~\d+)$/;
const PATH_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 255;

/** A path that is not for this folder, with the reason for the user. */
export interface BadPath {
  readonly bad: string;
}

/** Checks a path. It is never repaired, except that its Unicode form becomes NFC. */
export function checkPath(given: string): FolderPath | BadPath {
  if (given === '' || Buffer.byteLength(given) > PATH_BYTES_MAX) return { bad: 'The path is empty or too long.' };
  if (!given.isWellFormed()) return { bad: 'The path is not well-formed Unicode.' };
  if (HIDDEN.test(given)) return { bad: 'The path contains control or invisible characters; rename the file.' };
  if (given.includes('\\')) return { bad: 'The path contains a backslash; rename the file.' };
  const parts = given.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..') || /^[a-z]:/i.test(given)) {
    return { bad: 'The path points outside the folder.' };
  }
  if (parts.some((part) => Buffer.byteLength(part) > NAME_BYTES_MAX)) return { bad: 'A name in the path is too long.' };
  if (parts.some(isReserved)) return { bad: "The path belongs to git or to Cairn's own folder." };
  return given.normalize('NFC') as FolderPath;
}

/** True for a name that belongs to git or to Cairn, whatever spelling a disk takes for it. */
export function isReserved(name: string): boolean {
  return RESERVED.test(foldCase(name.normalize('NFKC').replace(IGNORED, '')).replace(STREAM, '').replace(DROPPED, ''));
}

/** Whether a path was refused. */
export function isBad(path: FolderPath | BadPath): path is BadPath {
  return typeof path !== 'string';
}

/** The folders that a path is in, the outermost first. */
export function parentsOf(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}
