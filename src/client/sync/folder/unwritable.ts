/** Names the reasons why a path of a synced folder cannot be written. */
import { codeOf, Unreadable } from './file.ts';

/** A path that cannot be written here, with the reason for the user. */
export class Unwritable extends Error {
  override readonly name = 'Unwritable';
}

export const CLASH = 'A file and a folder have the same name; rename or remove the one here.';
export const OTHER = 'A link, folder or device has this name here; rename or remove it.';

/** The error of a system call that could not write a path, as one for the user where it has a known reason. */
export function unwritable(error: unknown): Error {
  if (error instanceof Unreadable) return new Unwritable(error.message);
  switch (codeOf(error)) {
    case 'ENOTDIR':
    case 'EEXIST':
    case 'EISDIR':
      return new Unwritable(CLASH);
    case 'ENOTEMPTY':
      return new Unwritable(OTHER);
    case 'ENOENT':
      return new Unwritable('Its folder was just moved or removed; the next sync looks again.');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Unwritable(`No permission to write it here (${codeOf(error)}).`);
    case 'ENAMETOOLONG':
    case 'EINVAL':
    case 'EILSEQ':
      return new Unwritable(`This disk does not accept the name (${codeOf(error)}).`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new Unwritable(`The disk is full (${codeOf(error)}); free some space.`);
    case 'EIO':
    case 'EFBIG':
    case 'EBUSY':
    case 'ETXTBSY':
    case 'ENOTCONN':
    case 'ESTALE':
      return new Unwritable(`It cannot be written here (${codeOf(error)}).`);
    default:
      return error as Error;
  }
}
