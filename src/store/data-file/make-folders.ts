/** Makes a folder and the missing ones above it. `mkdirSync` of Node.js loops for ever below /proc when it does this. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes folders with this mode less the umask, unless the folder exists. Throws the error of the system. */
export function makeFolders(folder: string, mode = 0o777): void {
  const path = resolve(folder);
  if (isFolder(path)) return;
  makeFolders(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it in between.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
  }
}

/** False for a file, and for a path that does not exist. */
export const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();
