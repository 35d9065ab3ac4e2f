/** Owns how a data file is told from another one that took its place. */
import { statSync } from 'node:fs';

/** Changes when another file gets the name: by a restore, a compaction or a copy of the folder. */
export function fileIdentity(path: string): string {
  const { dev, ino, birthtimeMs } = statSync(path);
  return `${dev}-${ino}-${Math.floor(birthtimeMs)}`;
}
