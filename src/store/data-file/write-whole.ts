/** Writes all bytes to an open file: a single write may write fewer, for example on a disk that is almost full. */
import { writeSync } from 'node:fs';

/**
 * Writes all bytes, at the end of what was written before or at a position in the file.
 * @returns the number of bytes
 * @throws the error of the system, for example ENOSPC; a part of the bytes may then be in the file
 */
export function writeWhole(descriptor: number, bytes: Uint8Array, position?: number): number {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    done += writeSync(descriptor, bytes, done, bytes.length - done, at);
  }
  return bytes.length;
}
