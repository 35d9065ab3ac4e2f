/** Makes the file of locks that LMDB keeps beside a data file. */
import { writeFileSync } from 'node:fs';
import { limits } from '../../limits/service.ts';

/** A line of LMDB's table of readers, and its head in such lines. */
const READER_BYTES = 64;
const HEAD_LINES = 5;

/**
 * Gives the locks of a data file that no other process opens their room on the disk. LMDB makes them without, and writing
 * to memory that has no room on a full disk ends the process by a signal.
 * @throws the error of the system, for example ENOSPC
 */
export function reserveLocks(dataFile: string): void {
  writeFileSync(`${dataFile}-lock`, Buffer.alloc(READER_BYTES * (limits.readersMax + HEAD_LINES)), { mode: 0o600 });
}
