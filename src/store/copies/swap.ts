/**
 * Compacts a data file: makes a copy in one folder, moves it to another when complete, and swaps it in by one rename.
 * Whenever the process ends, the data file is the old one or the new one, and complete.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { checkDataFile, findDamagedPages } from '../data-file/check.ts';
import { DATA_FILE } from '../data-file/names.ts';
import { syncPath } from '../data-file/sync-path.ts';
import { type Environment, openEnvironment } from '../environment.ts';
import { freeBytes } from '../failure.ts';
import { readStats } from '../stats.ts';
import { bringInStep } from './in-step.ts';

/** Folders of the copy: in progress, and ready to be swapped in. */
const WORK_FOLDER = 'compacting';
const READY_FOLDER = 'compacted';

export interface SwapOptions {
  readonly folder: string;
  readonly mapBytes: number;
  /** Called with the bytes copied, or compared, of the total. */
  readonly onProgress: (done: number, total: number) => void;
}

/** True when a complete copy is ready for `swapIn`. */
export const hasCopy = (folder: string): boolean => existsSync(join(folder, READY_FOLDER, DATA_FILE));

/** Removes a complete copy and the remains of an interrupted one. */
export function dropCopy(folder: string): void {
  for (const name of [WORK_FOLDER, READY_FOLDER]) rmSync(join(folder, name), { recursive: true, force: true });
}

/**
 * Copies the rows of the data file into a new one without free space, while it may be written. Replaces an earlier
 * copy.
 * @throws StartError when the disk has no room, the data file is damaged, or another process removed the copy
 */
export async function makeCopyAside({ folder, mapBytes, onProgress }: SwapOptions): Promise<void> {
  dropCopy(folder);
  const work = join(folder, WORK_FOLDER);
  const old = openOld(folder, mapBytes);
  try {
    const needed = usedBytes(old);
    if (freeBytes(folder) < needed) {
      throw new StartError(
        `compacting needs ${needed} bytes of free disk space for the new data file; free some, then run it again.`,
      );
    }
    mkdirSync(work, { mode: 0o700 });
    const copy = openEnvironment({ path: join(work, DATA_FILE), mapBytes, readOnly: false });
    try {
      await bringInStep(old, copy, telling(needed, onProgress));
    } finally {
      await copy.close();
    }
    syncPath(join(work, DATA_FILE));
    renameSync(work, join(folder, READY_FOLDER));
    syncPath(folder);
  } catch (error) {
    const isTaken = !existsSync(join(work, DATA_FILE)) && !(error instanceof StartError);
    rmSync(work, { recursive: true, force: true });
    if (!isTaken) throw toldToOperator(error);
    // A starting service removes the folder as the remains of an interrupted copy.
    throw new StartError(
      'the service was started, or compacted again, while the copy was made; nothing has changed: run `cairn compact` again.',
    );
  } finally {
    await old.close();
  }
}

/**
 * Updates the copy from the data file, compares both, and swaps the copy in. Nothing may write the data file during the call.
 * Returns the number of rows changed since the copy was made; undefined when another process reads the data file: the
 * copy is kept.
 * @throws StartError when the copy differs; it is removed and the data file stays in place
 */
export async function swapIn({ folder, mapBytes, onProgress }: SwapOptions): Promise<number | undefined> {
  const path = join(folder, DATA_FILE);
  const ready = join(folder, READY_FOLDER, DATA_FILE);
  const old = openOld(folder, mapBytes);
  let changed: number;
  try {
    if (isReadByOthers(old)) return undefined;
    checkDataFile(ready, mapBytes);
    const copy = openEnvironment({ path: ready, mapBytes, readOnly: false });
    try {
      const total = usedBytes(old);
      changed = await bringInStep(old, copy, telling(total, onProgress));
      // A difference now means the copy was not stored as written.
      if ((changed > 0 && (await bringInStep(old, copy)) > 0) || findDamagedPages(ready).length > 0) {
        throw new StartError(
          'the compacted copy is not the same as the data file, so it is not used; run `cairn verify`, then look at the disk.',
        );
      }
    } finally {
      await copy.close();
    }
  } catch (error) {
    dropCopy(folder);
    throw error;
  } finally {
    await old.close();
  }
  syncPath(ready);
  // The lock file lists readers of the old file; the first process to open the new file creates another.
  rmSync(`${path}-lock`, { force: true });
  renameSync(ready, path);
  syncPath(folder);
  dropCopy(folder);
  return changed;
}

/** Turns an error of the disk into one for the operator. Any other error is a broken assumption. */
function toldToOperator(error: unknown): unknown {
  const isOfDisk = !(error instanceof StartError) && error instanceof Error && 'code' in error;
  return isOfDisk
    ? new StartError(`the compacted copy could not be written, and nothing has changed: ${systemReason(error)}`)
    : error;
}

function openOld(folder: string, mapBytes: number): Environment {
  const path = join(folder, DATA_FILE);
  checkDataFile(path, mapBytes);
  const [damage] = findDamagedPages(path);
  if (damage !== undefined) {
    throw new StartError(
      `the data file is damaged (${damage}), so it is not compacted; restore a backup into an empty folder.`,
    );
  }
  return openEnvironment({ path, mapBytes, readOnly: true });
}

/** Bytes of the pages in use. */
function usedBytes(environment: Environment): number {
  const tables = new Map(
    [...environment.getKeys()].map((name) => [
      String(name),
      environment.openDB({ name: String(name), encoding: 'binary' }),
    ]),
  );
  const { pages, pagesFree, pageBytes } = readStats(environment, tables);
  return (pages - pagesFree) * pageBytes;
}

/** True when another process has a read in progress. The reader list has a title line, then one line per process id. */
function isReadByOthers(environment: Environment): boolean {
  environment.readerCheck();
  const lines = environment.readerList().split('\n');
  return lines.some((line) => /^\s*\d+/.test(line) && Number.parseInt(line, 10) !== process.pid);
}

function telling(total: number, onProgress: (done: number, total: number) => void): (bytes: number) => void {
  let done = 0;
  return (bytes) => {
    done += bytes;
    onProgress(Math.min(done, total), total);
  };
}
