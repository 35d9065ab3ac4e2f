/** Creates folders inside a synced folder, which may be moved away at any moment and must not be made in its place. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './file.ts';
import { parentsOf } from './path.ts';

/** Creates a folder unless it exists. Unlike with `recursive`, a folder above it that was just moved away stays away. */
export function makeFolderAt(absolute: string, mode: number): void {
  try {
    mkdirSync(absolute, { mode });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Creates the missing folders above a path of the synced folder `root`, but never `root` itself. */
export function makeParents(root: string, path: string): void {
  for (const parent of parentsOf(path)) makeFolderAt(join(root, parent), 0o777);
}
