/** Keeps files that a person gives up for the hub's versions, in case they are wanted after all: `.cairn/replaced`. */
import { copyFileSync, linkSync } from 'node:fs';
import { join } from 'node:path';
import { lookIfReadable } from './file.ts';
import type { SyncedFolder } from './folder.ts';
import { makeParents } from './make-folder.ts';
import { OWN_FOLDER } from './path.ts';

/** Where what is given up now is kept, relative to the synced folder. */
export function placeOfReplaced(nowMs: number): string {
  return `${OWN_FOLDER}/replaced/${new Date(nowMs).toISOString().replace(/[-:.]/g, '')}`;
}

/** Keeps a file of the folder under another name in it, after which it may be replaced. Throws system errors. */
export function keepReplaced({ root, large }: SyncedFolder, from: string, to: string): void {
  makeParents(root.path, to);
  const source = join(root.path, from);
  const before = lookIfReadable(source);
  try {
    linkSync(source, join(root.path, to));
    // Another name is a change of the metadata.
    large.moved(source, source, before);
  } catch {
    // The disk has no hard links.
    copyFileSync(join(root.path, from), join(root.path, to));
  }
}
