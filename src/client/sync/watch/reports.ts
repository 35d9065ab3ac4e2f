/**
 * What the systems report of a change below a watched folder, in one form. Linux watches each folder (inotify); macOS (FSEvents)
 * and Windows (ReadDirectoryChangesW) watch a folder with all that is below it. Node.js passes their reports on as `rename` (an
 * entry came or went) and `change`: https://nodejs.org/api/fs.html#fswatchfilename-options-listener. Pure.
 */
import { limits } from '../../../limits/service.ts';

/** True where a watch of a folder covers everything below it. */
export const coversAll = (platform: string): boolean => platform === 'darwin' || platform === 'win32';

/** The short name of an entry that was gone before its long name could be looked up. */
const SHORT_NAME = /(^|\/)[^/]{1,6}~\d/;

/**
 * The path of an entry below the watched folder, with forward slashes; empty for that folder itself. Undefined when something changed,
 * and the system does not tell where.
 */
export function reportedPath(platform: string, name: string | null): string | undefined {
  if (platform !== 'win32') return name ?? '';
  // Without a name, more changed than the buffer of the system holds.
  const path = name?.replaceAll('\\', '/');
  return path === undefined || SHORT_NAME.test(path) ? undefined : path;
}

/** True for a folder that only says that something in it changed, which has a report of its own. */
export function isEcho(platform: string, event: string, isFolder: boolean): boolean {
  return platform === 'win32' && event === 'change' && isFolder;
}

/** Why not everything can be watched, and what helps: a sentence of its own, or empty. */
export interface Blind {
  readonly why: string;
  readonly remedy: string;
}

/** `code`: of the error with which the system refused a watch. */
export function blindBy(code: string): Blind {
  if (code !== 'ENOSPC') return { why: code, remedy: '' };
  return {
    why: 'the system watches no more folders',
    remedy: ' To raise the limit: sudo sysctl fs.inotify.max_user_watches=1048576',
  };
}

/** What a watch says that does not see each change. */
export function blindSentence({ why, remedy }: Blind): string {
  const seconds = limits.clientBlindRescanMs / 1000;
  return `Not every change here is noticed at once (${why}); the folder is compared every ${seconds} seconds instead.${remedy}`;
}
