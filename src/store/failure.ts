/** Turns what LMDB says of a failed write into a refusal: full, or broken. Nothing of that write was kept either way. */
import { statfsSync } from 'node:fs';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';

const EIO = 5;
/** EFBIG, ENOSPC, EDQUOT. */
const FULL = new Set([27, 28, 122]);

interface CommitFailure extends Error {
  readonly commitError: Promise<never>;
}

/**
 * True for the rejection by which the store's library reports a failed commit. It rejects one promise that nobody
 * holds besides those of the writers, so the process guard lets this one pass: each writer was told already.
 */
export function isCommitFailure(reason: unknown): reason is CommitFailure {
  return reason instanceof Error && 'commitError' in reason;
}

export interface WriteFailure {
  /** What who waits for the write is told. */
  readonly told: unknown;
  /** What the system said; undefined when it was not the disk that failed. */
  readonly cause: unknown;
}

/** What the library (lmdb 3.5.6) prints a write that failed into, in bytes, however long it is. */
const PRINTED_BYTES_MAX = 100;

/** Whether the library wrote beyond its own buffer when it told this cause: then nothing in this process can be relied on. */
export function hasOverrun(cause: unknown): boolean {
  const printed = cause instanceof Error ? /Attempting to write page .*/.exec(cause.message)?.[0] : undefined;
  return printed !== undefined && printed.length >= PRINTED_BYTES_MAX;
}

/** Waits for the cause that comes after a failed commit and classifies it. `folder` is where the data file lies. */
export async function failureOf(error: unknown, folder: string): Promise<WriteFailure> {
  if (error instanceof Refusal) return { told: error, cause: undefined };
  const cause = isCommitFailure(error) ? await error.commitError.catch((reason: unknown) => reason) : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (typeof code !== 'number' && !isCommitFailure(error)) return { told: error, cause: undefined };
  // LMDB cannot tell a short write from an I/O error, so the free space decides.
  const full = FULL.has(Number(code)) || (code === EIO && freeBytes(folder) < limits.diskFreeBytesMin);
  return { told: new Refusal({ kind: full ? 'storage_full' : 'storage_failed' }), cause };
}

/** What the disk of a folder has left for this user, and what this user could have of it: as `df` reckons. */
export function diskBytes(folder: string): { readonly free: number; readonly total: number } {
  const { bavail, bfree, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: (blocks - bfree + bavail) * bsize };
}

/** What the disk of a folder has left for this user. */
export function freeBytes(folder: string): number {
  return diskBytes(folder).free;
}
