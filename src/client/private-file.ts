/**
 * Reads and writes files with secrets of one user: mode 0600, replaced atomically, rejected when others can read them.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { ClientError } from './client-error.ts';
import { quoted } from './shown.ts';

/**
 * The text of a file; undefined when missing. `hasSecrets` false: others may read it, as on a disk without permissions.
 * Throws ClientError when other users can read its secrets, or this user cannot read it.
 */
export function readPrivateFile(path: string, { hasSecrets = true } = {}): string | undefined {
  try {
    // Keys readable by others are no longer secret. The user should know that the mode is too wide.
    if (hasSecrets && process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw new ClientError(
        `${path} can be read by others; run chmod 600 on it, and replace its secrets if anyone has read it.`,
      );
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof ClientError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const step =
      code === 'EACCES'
        ? ` If cairn ran as another user, for example with sudo, give its files back: \`sudo chown -R "$USER" ${quoted(dirname(path))}\``
        : '';
    throw new ClientError(`${path} cannot be read (${code ?? 'unknown error'}).${step}`);
  }
}

/**
 * Writes a file atomically, in one part or several: readers see the old or the new text, even after a power loss. `makesFolder` false: its folder
 * has to exist. Throws ClientError.
 */
export function writePrivateFile(path: string, text: string | Iterable<string>, { makesFolder = true } = {}): void {
  const folder = dirname(path);
  const aside = `${path}.${crypto.randomUUID()}`;
  try {
    if (makesFolder) mkdirSync(folder, { recursive: true, mode: 0o700 });
    syncing(aside, 'wx', (descriptor) => {
      for (const part of typeof text === 'string' ? [text] : text) writeFileSync(descriptor, part);
    });
    renameSync(aside, path);
    flushPath(folder);
  } catch (error) {
    rmSync(aside, { force: true });
    throw new ClientError(`${path} cannot be written (${reasonOf(error)}).`);
  }
}

/** The code of a system error, with the next step where there is one. */
export function reasonOf(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' ? `${code}: the disk is full; free some space` : code;
}

/** Waits until the bytes of a file, or the names in a folder, are on the disk. Throws the error of the system. */
export const flushPath = (path: string): void => syncing(path, 'r', () => undefined);

function syncing(path: string, flags: 'wx' | 'r', work: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    work(descriptor);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
