/**
 * Names the folders of copies in progress, which get their own name when they are complete, and removes those that
 * interrupted copies have left.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../limits/service.ts';
import { DATA_FILE, KEY_FILE } from '../data-file/names.ts';
import { CHANGES_FILE } from './chain.ts';
import { COPY_MANIFEST_FILE } from './manifest.ts';

/** The data file of a copy with broken pages, until what can be read of it is saved. */
export const BROKEN_FILE = 'broken.mdb';

/** Says which process makes a copy, until it gets its name. */
export const MAKER_FILE = 'maker';

const PARTIAL = /\.partial-\w{6}$/;
const FILES: ReadonlySet<string> = new Set([
  DATA_FILE,
  `${DATA_FILE}-lock`,
  BROKEN_FILE,
  CHANGES_FILE,
  KEY_FILE,
  COPY_MANIFEST_FILE,
  MAKER_FILE,
]);

/** True for the name of a copy that is not complete. */
export const isPartial = (name: string): boolean => PARTIAL.test(name);

/** Makes the folder for a copy in progress next to its place. */
export const makePartial = (folder: string): string => mkdtempSync(`${folder}.partial-`);

/**
 * Removes copies in a folder that were interrupted: those that this process alone can make, and those in which nothing
 * was written for hours. A process that does run in one cannot be seen from another machine or container.
 * @param nowMs the time by the clock of the disk, which may be that of another machine
 * @param isLeft whether no process can be making the copy in this folder any more
 */
export function removeLeftovers(folder: string, nowMs: number, isLeft: (folder: string) => boolean): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!isPartial(name)) continue;
    try {
      if (isCopy(path) && (isLeft(path) || isQuiet(newestMs(path), nowMs))) remove(path);
    } catch {
      // Another process has removed it or given it its name meanwhile, or it belongs to another user.
    }
  }
}

/** Not a folder of another program with such a name. */
const isCopy = (path: string): boolean =>
  lstatSync(path).isDirectory() && readdirSync(path).every((name) => FILES.has(name));

/** When the newest of its files was written, or it was made. */
const newestMs = (path: string): number =>
  Math.max(...[path, ...readdirSync(path).map((name) => join(path, name))].map((one) => lstatSync(one).mtimeMs));

/** Also of one that a wrong clock dated far ahead. */
const isQuiet = (writtenMs: number, nowMs: number): boolean => Math.abs(nowMs - writtenMs) > limits.copyQuietMsMax;

/** Renames it first: if a process is making it after all, that one fails instead of giving half a copy its name. */
function remove(path: string): void {
  const aside = path.replace(PARTIAL, `.partial-${randomBytes(3).toString('hex')}`);
  renameSync(path, aside);
  rmSync(aside, { recursive: true });
}
