/**
 * Owns a lock between processes of one user: a file beside the one that it guards. Node.js has no flock, so a holder that
 * died leaves its file; the next one sees that (process gone, or file too old) and takes it over at once. Two could take over at
 * once in a rare race, so what runs under it must stay right, if wasteful, when it runs twice.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../limits/service.ts';
import { ClientError } from './client-error.ts';
import { birthOf, bootOf, isAlive, isVisible } from './process-birth.ts';

export interface LockOptions {
  /** How long to wait for another process. */
  readonly waitMs?: number;
  /** What another process does, for the refusal: "another cairn process …". */
  readonly holder?: string;
}

/** Runs `work` while no other process holds the lock of `path`. Throws ClientError when it is never free. */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const lock = `${path}.lock`;
  const mark = `${process.pid} ${hostname()} ${crypto.randomUUID()} ${birthOf(process.pid) ?? ''}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(dirname(path), error);
  }
  await acquire(lock, mark, options);
  const beat = setInterval(() => renew(lock), limits.clientLockBeatMs);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    // Taken over by another: then it is theirs to remove.
    if (contentOf(lock) === mark) rmSync(lock, { force: true });
  }
}

async function acquire(lock: string, mark: string, { waitMs, holder }: LockOptions): Promise<void> {
  const giveUpMs = Date.now() + (waitMs ?? limits.clientLockWaitMs);
  while (!tryCreate(lock, mark)) {
    if (removeStale(lock, mark)) continue;
    if (Date.now() > giveUpMs) {
      const what = holder ?? `holds ${lock}`;
      throw new ClientError(`Another cairn process ${what}. Wait for it; if there is none, remove ${lock}.`);
    }
    await sleep(limits.clientLockPollMs);
  }
}

/** Says that the holder lives. */
function renew(lock: string): void {
  try {
    const now = new Date();
    utimesSync(lock, now, now);
  } catch {
    // Taken over or removed: then it is not ours to renew.
  }
}

function tryCreate(lock: string, mark: string): boolean {
  try {
    writeFileSync(lock, mark, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(lock, error);
  }
}

function unwritable(path: string, error: unknown): ClientError {
  return new ClientError(`${path} cannot be made (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
}

/** Removes a lock whose holder is gone. True when it is worth trying again at once. */
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
    // Between the look and the move a living process may have taken the lock: give it back.
    if (contentOf(aside) !== seen) linkSync(aside, lock);
  } catch {
    // There is a newer lock by now, and that one counts.
  } finally {
    rmSync(aside, { force: true });
  }
  return true;
}

function isStale(lock: string, content: string): boolean {
  const [pid = '', host, , birth = ''] = content.split(' ');
  const ours = birthOf(process.pid);
  if (birth !== '' && ours !== undefined && isVisible(birth, ours)) return birthOf(Number(pid)) !== birth;
  const isOfThisHost = host === hostname() && /^\d+$/.test(pid);
  if (isOfThisHost && birth === '' && !isAlive(Number(pid))) return true;
  if (isOfThisHost && birth !== '' && bootOf(birth) !== bootOf(ours ?? birth)) return true;
  try {
    return Date.now() - statSync(lock).mtimeMs > limits.clientLockStaleMs;
  } catch {
    // Gone in the meantime: the next try decides.
    return false;
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not there (any more).
    return undefined;
  }
}
