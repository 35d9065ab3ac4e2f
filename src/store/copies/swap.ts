/**
 * Owns a second data file beside the one in use: made in one folder, complete in another, and put in the place of the first
 * by one rename. Whatever moment the process ends at, the data file is the old one or the new one, and both are whole.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { checkDataFile, findDamagedPages } from '../data-file/check.ts';
import { DATA_FILE } from '../data-file/name.ts';
import { syncPath } from '../data-file/sync-path.ts';
import { type Environment, openEnvironment } from '../environment.ts';
import { freeBytes } from '../failure.ts';
import { readStats } from '../stats.ts';
import { bringInStep } from './in-step.ts';

/** What is being made, and what is ready to be swapped in. */
const WORK_FOLDER = 'compacting';
const READY_FOLDER = 'compacted';

export interface SwapOptions {
  readonly folder: string;
  readonly mapBytes: number;
  /** Hears how many bytes of how many are copied, and compared afterwards. */
  readonly onProgress: (done: number, total: number) => void;
}

/** A copy that is complete and waits for `swapIn`. */
export const hasCopy = (folder: string): boolean => existsSync(join(folder, READY_FOLDER, DATA_FILE));

/** Removes a copy, and what is left of one that was cut off. */
export function dropCopy(folder: string): void {
  for (const name of [WORK_FOLDER, READY_FOLDER]) rmSync(join(folder, name), { recursive: true, force: true });
}

/**
 * Copies the rows of the data file into a new one without free space, beside whoever writes to it. Replaces an earlier copy.
 * @throws StartError when there is no room or the data file is damaged
 */
export async function makeCopyAside({ folder, mapBytes, onProgress }: SwapOptions): Promise<void> {
  dropCopy(folder);
  const work = join(folder, WORK_FOLDER);
  const old = openOld(folder, mapBytes);
  try {
    const needed = usedBytes(old);
    if (freeBytes(folder) < needed) {
      throw new StartError(
        `compacting needs ${needed} bytes of free disk space beside the data file; free some, then run it again.`,
      );
    }
    mkdirSync(work, { mode: 0o700 });
    const copy = openEnvironment({ path: join(work, DATA_FILE), mapBytes, readOnly: false });
    try {
      let done = 0;
      await bringInStep(old, copy, (bytes) => {
        done += bytes;
        onProgress(Math.min(done, needed), needed);
      });
    } finally {
      await copy.close();
    }
    syncPath(join(work, DATA_FILE));
    renameSync(work, join(folder, READY_FOLDER));
    syncPath(folder);
  } catch (error) {
    const isTaken = !existsSync(join(work, DATA_FILE)) && !(error instanceof StartError);
    rmSync(work, { recursive: true, force: true });
    if (!isTaken) throw error;
    // A start removes what it takes for the rest of a copy that was cut off.
    throw new StartError(
      'the service was started, or compacted again, while the copy was made; nothing has changed: run cairn compact again.',
    );
  } finally {
    await old.close();
  }
}

/**
 * Brings the copy in step with the data file, which nobody may write to meanwhile, compares both, and swaps it in.
 * Returns how many rows had changed since the copy was made; undefined when somebody reads the data file: the copy stays.
 * @throws StartError when the copy is not the same; it is then removed and the data file is the one it was
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
      // What differs after that was not written as it was read.
      if ((changed > 0 && (await bringInStep(old, copy)) > 0) || findDamagedPages(ready).length > 0) {
        throw new StartError(
          'the compacted copy is not the same as the data file, so it is not used; run cairn verify, then look at the disk.',
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
  // It tells of readers of the old file; the first to open the new one makes its own.
  rmSync(`${path}-lock`, { force: true });
  renameSync(ready, path);
  syncPath(folder);
  dropCopy(folder);
  return changed;
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

/** Bytes of the pages of a file's tables. */
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

/** Whether another process has a read under way; each is a line with its id, after a line of titles. */
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
