/** Makes sure that the memory for the next run's files is already allocated to this machine. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MiB } from '../report.ts';

/**
 * Writes a scratch file of that size and removes it. A virtual machine may return free memory to its host, and the
 * first access after that costs many times the write itself. Without this, the side that reuses the pages of removed
 * files would avoid that cost, and the side whose file grows would pay it. Called before each run of either side, so
 * neither pays it.
 */
export function warmMemory(folder: string, bytes: number): void {
  const file = join(folder, 'scratch');
  const piece = Buffer.alloc(MiB, 1);
  const descriptor = openSync(file, 'w');
  for (let written = 0; written < bytes; written += MiB) writeSync(descriptor, piece);
  closeSync(descriptor);
  rmSync(file);
}
