/** Files in `.cairn/incoming`: written there, they get their place in the folder in one step. */
import {
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  readdirSync,
  renameSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './file.ts';

function namesIn(absolute: string): string[] {
  try {
    return readdirSync(absolute);
  } catch {
    // Nothing was ever downloaded.
    return [];
  }
}

/** Removes the parts of downloads that are no longer wanted. */
export function dropPartsIn(folder: string, isWanted: (sha256: string) => boolean): void {
  for (const name of namesIn(folder)) {
    const [sha256 = '', ending] = name.split('.');
    if (ending === 'part' && !isWanted(sha256)) removeIncoming(join(folder, name));
  }
}

/** Unlike rmSync, looks at nothing first. */
export function removeIncoming(incoming: string): void {
  try {
    unlinkSync(incoming);
  } catch {
    // It was never made.
  }
}

/** How a file got its name: the file itself, which no other program knew before, or a copy of it. */
export type Placed = 'moved' | 'copied';

/** Creates a file only where none exists. False when one exists. */
export function placeNew(incoming: string, target: string): Placed | false {
  try {
    linkSync(incoming, target);
    return 'moved';
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (codeOf(error) === 'ENOENT') throw error;
    if (codeOf(error) === 'EXDEV') return copyNew(incoming, target);
  }
  return placeWithoutLink(incoming, target);
}

/**
 * The same on a disk without hard links (FAT, exFAT): an empty file takes the name, and is replaced in one step. Copying would
 * take long for a large file, and its room twice.
 */
export function placeWithoutLink(incoming: string, target: string): Placed | false {
  try {
    writeFileSync(target, '', { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  // A program may have found it, and written to it.
  if (lstatSync(target).size > 0) return false;
  try {
    renameSync(incoming, target);
    return 'moved';
  } catch (error) {
    unlinkSync(target);
    throw error;
  }
}

/** The same where another disk is mounted inside the folder. */
function copyNew(incoming: string, target: string): Placed | false {
  try {
    copyFileSync(incoming, target, constants.COPYFILE_EXCL);
    const { atime, mtime } = lstatSync(incoming);
    utimesSync(target, atime, mtime);
    return 'copied';
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}
