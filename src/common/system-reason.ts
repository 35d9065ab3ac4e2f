/** Explains what to do when the system refuses to read or write a file. */
import { getSystemErrorName } from 'node:util';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full; free some space there, or name a folder on another disk.',
  EDQUOT: 'the disk quota of this user is used up; free some space there, or name a folder on another disk.',
  EROFS: 'its file system is read-only; mount it for writing, or name another folder.',
  EACCES: 'this user lacks the permission; run the command as the user of the hub, or change the owner of the folder.',
  EPERM: 'this user lacks the permission; run the command as the user of the hub, or change the owner of the folder.',
  ENOENT: 'it, or a folder above it, does not exist; correct the path.',
  ENOTDIR: 'a part of the path is a file and not a folder; correct the path.',
  EEXIST: 'it, or a folder above it, is a file; correct the path.',
  EISDIR: 'it is a folder and not a file; correct the path.',
  ENAMETOOLONG: 'a name in the path is too long; choose a shorter one.',
  ELOOP: 'its symbolic links form a circle; correct the path.',
  EIO: 'the disk reports an error; look at the log of the system (dmesg), and name a folder on another disk.',
};

/**
 * Returns the reason and the next step, to append after a colon. `error`: thrown by node:fs or by the store's library.
 */
export function systemReason(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message: string };
  return REASONS[nameOf(code, message)] ?? `${message}.`;
}

/** True when an error says that a disk has no room. */
export function isNoRoom(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message: string };
  return nameOf(code, message) === 'ENOSPC';
}

/** The sentence for an error of node:fs about a path that the machine refuses or fails to serve; undefined for any other error. */
export function systemSentence(error: unknown): string | undefined {
  const { code, path } = error as NodeJS.ErrnoException;
  const reason = REASONS[String(code)];
  return path === undefined || reason === undefined ? undefined : `${path} cannot be used: ${reason}`;
}

/** The store's library reports the number of an error, or only its message. */
function nameOf(code: unknown, message: string): string {
  if (message.includes('No space left on device')) return 'ENOSPC';
  return typeof code === 'number' && code > 0 ? getSystemErrorName(-code) : String(code);
}
