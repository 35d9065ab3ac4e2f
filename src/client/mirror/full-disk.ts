/** Full disks: whatever wrote to one, Cairn or a program that it ran, the command says which folder it was and what to do. */
import { mkdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientError } from '../client-error.ts';
import { besideItsPlace, type Tell } from '../staging.ts';
import { backupExit } from './exit-codes.ts';

/** What git and the programs that it runs print, in English, of writes that failed for this reason. */
const NO_ROOM = /No space left on device|Out of diskspace|Disk quota exceeded/;
/** What git prints of a file that it could not write, without the reason. */
const UNWRITTEN = /\bunable to (write|create)\b/;
/** With less free, that is the reason. */
const FREE_BYTES_MIN = 1024 * 1024;

/** The disk took no more bytes. */
export class DiskFull extends ClientError {
  constructor(message: string) {
    super(message, backupExit.full);
  }
}

/** The error for a program that failed in a folder because a disk is full; undefined when it failed for another reason. */
export function fullDiskOf(told: string, folder: string): DiskFull | undefined {
  const line = told.split('\n').find((one) => NO_ROOM.test(one));
  if (line !== undefined) return new DiskFull(`the disk is full (${line.slice(0, 300)}). Free some space.`);
  return !UNWRITTEN.test(told) || hasRoom(folder)
    ? undefined
    : new DiskFull(`the disk of ${folder} is full. Free some space.`);
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    // The program failed because of the folder.
    return true;
  }
}

/** True for a full disk, or one whose quota is used up. */
function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof DiskFull || code === 'ENOSPC' || code === 'EDQUOT';
}

/** Calls `work`. Throws DiskFull with `sentence` when it ends because a disk is full. */
export async function tellingFullDisk<T>(sentence: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isDiskFull(error) ? new DiskFull(sentence) : error;
  }
}

/** Calls `work` with a new private folder for temporary files, of which nothing is left. Throws DiskFull when they find no room. */
export async function withWorkFolder<T>(name: string, tell: Tell, work: (folder: string) => Promise<T>): Promise<T> {
  const sentence = `the disk of the temporary files is full (${tmpdir()}). Free some space there, or set TMPDIR to a folder on another disk.`;
  return await tellingFullDisk(sentence, () =>
    besideItsPlace(join(tmpdir(), name), tell, async (folder) => {
      mkdirSync(folder, { mode: 0o700 });
      return await work(folder);
    }),
  );
}
