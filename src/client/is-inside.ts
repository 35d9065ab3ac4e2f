/** Tells whether a path of this disk is a folder or below it. */
import { sep } from 'node:path';

/** Both are absolute and resolved. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}
