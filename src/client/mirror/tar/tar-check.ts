/**
 * Checks the entries of a tar before they are unpacked. Only files, folders and links inside the folder are allowed: no
 * hard links, devices or pipes, no path that leads out, nothing below a link, no file twice. Pure.
 */
import { posix } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { shownLine } from '../../shown.ts';
import { backupExit } from '../exit-codes.ts';

const FILE = '0';
const LINK = '2';
const FOLDER = '5';

export interface CheckedEntry {
  readonly kind: 'file' | 'folder' | 'link';
  /** Relative and normalized; empty: the folder itself. */
  readonly path: string;
}

export class TarCheck {
  readonly #links = new Set<string>();

  /** Checks the next entry. Throws ClientError when it must not be unpacked. */
  accept({ type, path, target }: { type: string; path: string; target: string }): CheckedEntry {
    const refuse = (why: string) =>
      new ClientError(`the archive is not unpacked: ${shownLine(path)} ${why}.`, backupExit.damaged);
    if (type !== FILE && type !== FOLDER && type !== LINK)
      throw refuse('is neither a file, a folder nor a symbolic link');
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (path.startsWith('/') || path.includes('\0') || parts.includes('..')) throw refuse('leads out of the folder');
    if (parts.length === 0 && type !== FOLDER) throw refuse('has no name');
    const above = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    if (above.some((one, index) => this.#links.has(one) && (index < parts.length - 1 || type !== LINK))) {
      throw refuse('is below a symbolic link');
    }
    const normal = parts.join('/');
    if (type !== LINK) return { kind: type === FILE ? 'file' : 'folder', path: normal };
    if (!staysInside(parts.length - 1, target)) throw refuse('is a link that points outside the folder');
    this.#links.add(normal);
    return { kind: 'link', path: normal };
  }
}

/**
 * Requires every `..` at the start of the target, and none above the folder. Later in the path, a link on the way could
 * change where `..` leads.
 */
function staysInside(depth: number, target: string): boolean {
  if (target === '' || posix.isAbsolute(target) || target.includes('\0')) return false;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const ups = parts.findIndex((part) => part !== '..');
  const down = ups < 0 ? [] : parts.slice(ups);
  return (ups < 0 ? parts.length : ups) <= depth && !down.includes('..');
}
