/** Identifies a data file, to detect its replacement by another file. */
import { statSync } from 'node:fs';

/** Changes when another file takes the path: by a restore, a compaction or a copy of the folder. */
export function fileIdentity(path: string): string {
  const { dev, ino, birthtimeMs } = statSync(path);
  return `${dev}-${ino}-${Math.floor(birthtimeMs)}`;
}
