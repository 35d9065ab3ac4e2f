/** Flushes a file, or the names in a folder, so that they survive a power failure. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
