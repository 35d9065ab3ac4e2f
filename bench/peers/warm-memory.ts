/** Makes the memory that the next run's files will fill belong to this machine already. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MiB } from '../report.ts';

/**
 * Writes a scratch file of that size and removes it. A virtual machine may hand free memory back to its host, and the
 * first touch after that costs many times the write itself; the side that reuses the pages of files just removed would
 * not pay it and the side whose file grows would. Called before each run of either side, neither pays.
 */
export function warmMemory(folder: string, bytes: number): void {
  const file = join(folder, 'scratch');
  const piece = Buffer.alloc(MiB, 1);
  const descriptor = openSync(file, 'w');
  for (let written = 0; written < bytes; written += MiB) writeSync(descriptor, piece);
  closeSync(descriptor);
  rmSync(file);
}
