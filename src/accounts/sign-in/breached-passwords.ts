/**
 * Looks up a password in a local file of breached ones: SHA-1 hashes in hex, one a line, sorted, each with `:` and a
 * count, as the downloader of haveibeenpwned.com writes it (some 40 GB). A binary search reads about 35 lines; nothing is
 * loaded, and nothing leaves the machine.
 */
import { hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** More than a line has: 40 characters of hash, a colon, a count, and the end of the line. */
const LINE_BYTES_MAX = 80;
const LINE = /^([0-9A-F]{40})(?::\d+)?\r?$/i;
const NEW_LINE = 0x0a;

/** True when the file lists the password. Throws when the file cannot be read, or is not a list of SHA-1 hashes. */
export function isBreached(file: string, password: string): boolean {
  const wanted = hash('sha1', password, 'hex').toUpperCase();
  const descriptor = openSync(file, 'r');
  try {
    return holds(descriptor, wanted);
  } finally {
    closeSync(descriptor);
  }
}

/** Throws when the file cannot be read, or does not begin like a list of SHA-1 hashes. */
export function checkBreachedFile(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    lineAt(descriptor, 0);
  } finally {
    closeSync(descriptor);
  }
}

function holds(descriptor: number, wanted: string): boolean {
  // The line, if there is one, begins at `low` or after it, and before `high`.
  let low = 0;
  let high = fstatSync(descriptor).size;
  while (low < high) {
    const { start, end, found } = lineAt(descriptor, Math.floor((low + high) / 2));
    if (found === wanted) return true;
    if (found < wanted) low = end;
    else high = start;
  }
  return false;
}

interface Line {
  readonly start: number;
  /** Where the next line begins. */
  readonly end: number;
  readonly found: string;
}

/** The line that contains a byte. */
function lineAt(descriptor: number, at: number): Line {
  const from = Math.max(0, at - LINE_BYTES_MAX);
  const bytes = Buffer.alloc(2 * LINE_BYTES_MAX);
  const read = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from));
  const before = at === from ? -1 : read.lastIndexOf(NEW_LINE, at - from - 1);
  const start = from + before + 1;
  const after = read.indexOf(NEW_LINE, at - from);
  const end = after < 0 ? from + read.length : from + after + 1;
  const text = read.subarray(before + 1, after < 0 ? read.length : after).toString('latin1');
  const found = LINE.exec(text)?.[1];
  if (found === undefined) throw new Error('the file of breached passwords is not a sorted list of SHA-1 hashes');
  return { start, end, found: found.toUpperCase() };
}
