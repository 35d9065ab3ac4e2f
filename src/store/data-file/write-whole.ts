/** Writes all bytes to an open file: a single write may write fewer, for example on a disk that is almost full. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

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

/**
 * Writes all bytes to a file, mode 0600, and flushes it; its name survives a power failure once its folder is flushed too.
 * `flags`: as of open(2): `w` replaces the content, `wx` only makes a new file, `a` appends.
 * @throws the error of the system, for example EEXIST or ENOSPC
 */
export function writeFlushed(path: string, bytes: Uint8Array, flags: 'a' | 'w' | 'wx'): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    writeWhole(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
