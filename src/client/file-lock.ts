/**
 * Locks a file between processes of one user, with a lock file beside it. Node.js has no flock, so a dead holder leaves
 * its lock file; the next process detects that (process gone, or file too old) and takes the lock over immediately. In
 * a rare race two processes take it over at once, so the locked work must stay correct, if wasteful, when it runs
 * twice.
 */
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../limits/service.ts';
import { ClientError } from './client-error.ts';
import { reasonOf } from './private-file.ts';
import { birthOf, bootOf, isAlive, isVisible } from './process-birth.ts';

export interface LockOptions {
  /** Milliseconds to wait for another process. */
  readonly waitMs?: number;
  /** Activity of the other process in the error message: "Another cairn process …". */
  readonly holder?: string;
  /** False: the folder of the lock must exist; it is never made. */
  readonly makesFolder?: boolean;
}

/** Contents of the lock files that this process holds. */
const held = new Set<string>();

/** Runs `work` while holding the lock of `path`. Throws ClientError when the lock does not become free in time. */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const lock = `${path}.lock`;
  const mark = newMark();
  try {
    if (options.makesFolder !== false) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(dirname(path), error);
  }
  held.add(mark);
  try {
    await acquire(lock, mark, options);
    return await whileBeating(lock, work);
  } finally {
    held.delete(mark);
    // If another process took the lock over, that process removes it.
    if (contentOf(lock) === mark) rmSync(lock, { force: true });
  }
}

/** What a file says that this process holds. */
const newMark = (): string => `${process.pid} ${hostname()} ${crypto.randomUUID()} ${birthOf(process.pid) ?? ''}`;

/** Runs `work` while a new file shows other processes that this one is at work. Throws the error of the system. */
export async function withMark<T>(file: string, work: () => Promise<T>): Promise<T> {
  const mark = newMark();
  held.add(mark);
  try {
    writeFileSync(file, mark, { flag: 'wx', mode: 0o600 });
    return await whileBeating(file, work);
  } finally {
    held.delete(mark);
  }
}

/** True for the file of `withMark` whose process is gone, or did not renew it for minutes. */
export function isMarkLeft(file: string): boolean {
  const content = contentOf(file);
  return content !== undefined && isStale(file, content);
}

/** True for the file of `withMark` whose process is seen to be gone: it belonged to this machine, boot and container. */
export function isMakerGone(file: string): boolean {
  const content = contentOf(file);
  return content !== undefined && isSeenGone(content) === true;
}

async function whileBeating<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => renew(lock), limits.clientLockBeatMs);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}

async function acquire(lock: string, mark: string, { waitMs, holder }: LockOptions): Promise<void> {
  const giveUpMs = Date.now() + (waitMs ?? limits.clientLockWaitMs);
  while (!tryCreate(lock, mark)) {
    if (removeStale(lock, mark)) continue;
    if (Date.now() > giveUpMs) {
      const what = holder ?? `holds ${lock}`;
      throw new ClientError(`another cairn process ${what}. Wait for it; if there is none, remove ${lock}.`);
    }
    await sleep(limits.clientLockPollMs);
  }
}

/** Updates the time of the lock file, which shows that the holder is alive. */
function renew(lock: string): void {
  try {
    const now = new Date();
    utimesSync(lock, now, now);
  } catch {
    // Taken over by another process or removed, so no longer ours to renew.
  }
}

function tryCreate(lock: string, mark: string): boolean {
  let isMade = false;
  try {
    const descriptor = openSync(lock, 'wx', 0o600);
    isMade = true;
    try {
      writeFileSync(descriptor, mark);
    } finally {
      closeSync(descriptor);
    }
    return true;
  } catch (error) {
    if (!isMade && (error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A lock without its holder would count as held until it is old.
    if (isMade) rmSync(lock, { force: true });
    throw unwritable(lock, error);
  }
}

function unwritable(path: string, error: unknown): ClientError {
  return new ClientError(`${path} cannot be made (${reasonOf(error)}).`);
}

/** Removes a lock whose holder is gone. True when another attempt is worthwhile. */
function removeStale(lock: string, mark: string): boolean {
  const seen = contentOf(lock);
  if (seen === undefined) return true;
  if (!isStale(lock, seen)) return false;
  const aside = `${lock}.${mark.split(' ')[2] ?? ''}`;
  try {
    renameSync(lock, aside);
  } catch {
    // Another process was faster.
    return true;
  }
  try {
    // A living process may have taken the lock between the check and the move: restore it.
    if (contentOf(aside) !== seen) linkSync(aside, lock);
  } catch {
    // A newer lock exists by now, and that one is valid.
  } finally {
    rmSync(aside, { force: true });
  }
  return true;
}

function isStale(lock: string, content: string): boolean {
  const [pid = '', host, , birth = ''] = content.split(' ');
  const ours = birthOf(process.pid);
  // Left by this process: its folder was away when the work ended.
  if (pid === String(process.pid) && host === hostname() && birth === (ours ?? '')) return !held.has(content);
  const isGone = isSeenGone(content);
  if (isGone !== undefined) return isGone;
  const isOfThisHost = host === hostname() && /^\d+$/.test(pid);
  if (isOfThisHost && birth === '' && !isAlive(Number(pid))) return true;
  if (isOfThisHost && birth !== '' && bootOf(birth) !== bootOf(ours ?? birth)) return true;
  try {
    return Date.now() - statSync(lock).mtimeMs > limits.clientLockStaleMs;
  } catch {
    // The lock is gone; the next attempt decides.
    return false;
  }
}

/** Undefined when the process of a mark cannot be seen from here. */
function isSeenGone(content: string): boolean | undefined {
  const [pid, , , birth = ''] = content.split(' ');
  const ours = birthOf(process.pid);
  if (birth === '' || ours === undefined || !isVisible(birth, ours)) return undefined;
  return birthOf(Number(pid)) !== birth;
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Missing or already removed.
    return undefined;
  }
}
