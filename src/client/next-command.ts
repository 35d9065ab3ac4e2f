/** Words of the commands that a message proposes: they work when pasted where the current command runs. */
import { sep } from 'node:path';
import { quoted } from './shown.ts';

/** A command for the synced folder `root`; names the folder unless the current one is in it. */
export function nextCommand(root: string, words: string): string {
  return `cairn ${words}${isInside(root, process.cwd()) ? '' : ` --folder ${quoted(root)}`}`;
}

/** A path as one word of a command; a leading dash would make it an option. */
export function pathWord(path: string): string {
  return quoted(path.startsWith('-') ? `./${path}` : path);
}

/** The command that settles a conflict with the file as it is here. */
export function keepMineCommand(root: string, path: string): string {
  return nextCommand(root, `sync resolve ${pathWord(path)} --keep mine`);
}

/** What `cairn sync restore --seq` calls the side of a settled conflict; a version is called by its number. */
export function sideName(conflictId: string): string {
  return `c-${conflictId}`;
}

/** The command that makes a version, or the side of a settled conflict, current again. */
export function restoreVersionCommand(
  root: string,
  path: string,
  wanted: number | { readonly conflictId: string },
): string {
  const name = typeof wanted === 'number' ? String(wanted) : sideName(wanted.conflictId);
  return nextCommand(root, `sync restore ${pathWord(path)} --seq ${name}`);
}

/** The command that settles a conflict, with the other choices; only texts are merged. */
export function resolveCommand(root: string, path: string, isText: boolean): string {
  return `${keepMineCommand(root, path)} (or --keep theirs, or --keep both${isText ? ', or --keep merge' : ''})`;
}

/** True when a path is a folder or below it; both are absolute and resolved. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}
