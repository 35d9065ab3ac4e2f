/**
 * Makes something beside its place first, so that what has the name is complete. An interrupted command leaves nothing; what
 * a killed one left, the next command there removes.
 */
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMarkLeft, withMark } from './file-lock.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STAGING = /\.partial-[0-9a-f]{8}$/;
/** Also that of a backup or of a copy of the whole hub. */
const ANY_STAGING = /\.partial-\w{6,8}$/;
/** Flushes wait for one another's commit of the file system. */
const FLUSHED_AT_ONCE = 16;
/** Says which process makes what is in the folder. */
const MAKER = 'maker';

/** Receives one sentence for a person. */
export type Tell = (sentence: string) => void;

/**
 * Calls `fill` with a path in a new folder beside `place`, for what is not complete yet; `fill` gives it its name. Makes no
 * folder above it. When `fill` throws or the process is interrupted, nothing is left. First removes what processes that were
 * killed left there, and tells it.
 */
export async function besideItsPlace<T>(place: string, tell: Tell, fill: (staging: string) => Promise<T>): Promise<T> {
  removeLeftovers(dirname(place), tell);
  const folder = stagingOf(place);
  return await whileRemovable(folder, async () => {
    mkdirSync(folder, { mode: 0o700 });
    return await withMark(join(folder, MAKER), () => fill(join(folder, basename(place))));
  });
}

const stagingOf = (place: string): string => `${place}.partial-${crypto.randomUUID().slice(0, 8)}`;

async function whileRemovable<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await removedOnSignal(folder, work);
  } finally {
    remove(folder);
  }
}

/** Removes a folder when SIGINT, SIGTERM or SIGHUP ends this process during `work`, which must let signals be handled. */
export async function removedOnSignal<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const interrupted = (signal: NodeJS.Signals) => {
    try {
      remove(folder);
    } finally {
      process.removeListener(signal, interrupted);
      process.kill(process.pid, signal);
    }
  };
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    return await work();
  } finally {
    // A signal that came as the work ended would be lost with its listener.
    await nextTurn();
    for (const signal of SIGNALS) process.removeListener(signal, interrupted);
  }
}

/** Renames it first: what still writes into it, such as a thread, fails instead of making it again. */
function remove(folder: string): void {
  const aside = stagingOf(folder.replace(STAGING, ''));
  try {
    renameSync(folder, aside);
  } catch (error) {
    // It was not made, or another command has removed it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  rmSync(aside, { recursive: true, force: true, maxRetries: 3 });
}

/** The folders of this user in a folder that interrupted commands left: of exports, restores and backups. */
export function leftoversIn(parent: string): readonly string[] {
  return namesIn(parent)
    .filter((name) => ANY_STAGING.test(name))
    .map((name) => join(parent, name))
    .filter(isLeft);
}

/** One of which that cannot be seen counts too: a person has to look at it. */
function isLeft(folder: string): boolean {
  try {
    return isOwnFolder(folder) && isMarkLeft(join(folder, MAKER));
  } catch {
    return true;
  }
}

function removeLeftovers(parent: string, tell: Tell): void {
  for (const folder of leftoversIn(parent)) {
    if (!STAGING.test(folder)) continue;
    try {
      remove(folder);
      tell(`removed ${folder}, which an interrupted command left; it was not encrypted.`);
    } catch {
      tell(
        `${folder} was left by an interrupted command and is not encrypted; it cannot be removed: remove it yourself.`,
      );
    }
  }
}

/** Waits until a folder and all that is in it are on the disk. Throws the error of the system. */
export async function flushTree(folder: string): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const places = found
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  for (let at = 0; at < places.length; at += FLUSHED_AT_ONCE) {
    await Promise.all(places.slice(at, at + FLUSHED_AT_ONCE).map(flush));
  }
  await flush(folder);
}

async function flush(place: string): Promise<void> {
  const opened = await open(place, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It does not exist yet, or cannot be listed: then what is in it cannot be removed either.
    return [];
  }
}

/** True for a folder of this user, and not for a link to one. */
function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}
