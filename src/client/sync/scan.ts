/** Owns what lies in a synced folder: which files take part, and their hashes. It follows no link and reads no `.git`. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { limits } from '../../limits/service.ts';
import type { BaseRecord } from './state.ts';
import { OWN_FOLDER } from './state.ts';

/** Patterns as of .gitignore, in the folder itself; it is synced like any file. */
const IGNORE_FILE = '.cairnignore';

export interface LocalFile {
  readonly sha256: string;
  readonly seen: NonNullable<BaseRecord['seen']>;
}

export interface Scan {
  /** By path with forward slashes, in NFC. */
  readonly files: Map<string, LocalFile>;
  /** Of those that are not in NFC on this disk: how they are spelled there. */
  readonly otherForms: ReadonlyMap<string, string>;
  /** What cannot take part, and why, in words for the user. */
  readonly skipped: Map<string, string>;
  /** True for a path that takes no part here, whatever the hub has: ignored, or skipped. */
  readonly leavesOut: (path: string) => boolean;
}

/** A file changed this shortly before it was hashed may change again without another time stamp: it is read again. */
const RACY_MS = 2000;

/** Reads a folder. What looks as it did when it was hashed last is not read again. */
export function scanFolder(folder: string, base: Readonly<Record<string, BaseRecord>>): Scan {
  const files = new Map<string, LocalFile>();
  const skipped = new Map<string, string>();
  const otherForms = new Map<string, string>();
  const rules = readRules(folder);
  const walk = (below: string): void => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      const isFolder = entry.isDirectory();
      if (isOwn(path) || rules.ignores(isFolder ? `${path}/` : path)) continue;
      if (isFolder) walk(path);
      else if (!entry.isFile()) skipped.set(path.normalize('NFC'), 'is a link or no plain file');
      else addFile(path);
    }
  };
  const addFile = (path: string): void => {
    const shown = path.normalize('NFC');
    const stats = statOf(folder, path);
    if (stats === undefined) return;
    if (stats.size > limits.fileBytesMax) {
      skipped.set(shown, `has ${stats.size} bytes, and ${limits.fileBytesMax} is the most`);
      return;
    }
    if (shown !== path) {
      const twin = statOf(folder, shown);
      if (otherForms.has(shown) || (twin !== undefined && twin.ino !== stats.ino)) {
        skipped.set(path, 'differs from another file only in its Unicode form; remove or rename one of them');
        return;
      }
      if (twin === undefined) otherForms.set(shown, path);
    }
    const known = base[shown];
    const hashedMs = Date.now();
    const sha256 =
      known?.seen !== undefined && looksSame(stats, known.seen)
        ? known.sha256
        : createHash('sha256')
            .update(readFileSync(join(folder, path)))
            .digest('hex');
    files.set(shown, { sha256, seen: { ...looksOf(stats), hashedMs } });
  };
  walk('');
  return { files, otherForms, skipped, leavesOut: (path) => isOwn(path) || skipped.has(path) || rules.ignores(path) };
}

/** True for what a folder never syncs, whatever its rules say. */
export function isOwn(path: string): boolean {
  const [first = ''] = path.split('/');
  return first === OWN_FOLDER || path.split('/').some((part) => part.toLowerCase() === '.git');
}

/** How a file looks now, for a later comparison; undefined: it is no plain file any more. */
export function statOf(folder: string, path: string): Stats | undefined {
  const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats : undefined;
}

export function looksOf({ size, mtimeMs, ctimeMs, ino }: Stats): Omit<LocalFile['seen'], 'hashedMs'> {
  return { bytes: size, modifiedMs: mtimeMs, changedMs: ctimeMs, inode: ino };
}

function looksSame(stats: Stats, seen: LocalFile['seen']): boolean {
  const now = looksOf(stats);
  return (
    now.bytes === seen.bytes &&
    now.modifiedMs === seen.modifiedMs &&
    now.changedMs === seen.changedMs &&
    now.inode === seen.inode &&
    Math.max(seen.modifiedMs, seen.changedMs) < seen.hashedMs - RACY_MS
  );
}

function readRules(folder: string): Ignore {
  const rules = ignore();
  try {
    rules.add(readFileSync(join(folder, IGNORE_FILE), 'utf8'));
  } catch (error) {
    // No such file: nothing is ignored.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return rules;
}
