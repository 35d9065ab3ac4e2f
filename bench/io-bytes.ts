/**
 * Reads how many bytes a process has read, and has had written to the disk. Where the page cache has large folios (ext4 of
 * Linux 6.18), a small write counts with its whole folio: far more than reaches the disk (README.md, "Synced folders").
 */
import { readFileSync } from 'node:fs';

export interface IoBytes {
  readonly readBytes: number;
  /** Without those of files that were removed before they were written (proc(5)). */
  readonly writtenBytes: number;
  /** With those. Unlike `writtenBytes`, it never falls. */
  readonly dirtiedBytes: number;
}

export function ioOf(pid: number): IoBytes {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(text)?.[1]);
  const dirtiedBytes = field('write_bytes');
  return { readBytes: field('rchar'), writtenBytes: dirtiedBytes - field('cancelled_write_bytes'), dirtiedBytes };
}
