/** Turns LMDB's error of a failed write into a refusal: disk full or disk failed. Such a write is always discarded. */
import { statfsSync, statSync } from 'node:fs';
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';

const EIO = 5;
/** EFBIG, ENOSPC, EDQUOT. */
const FULL = new Set([27, 28, 122]);

interface CommitFailure extends Error {
  readonly commitError: Promise<never>;
}

/**
 * True for the rejection with which the store's library reports a failed commit. Besides the promises of the writers it
 * rejects one that nothing awaits. The process guard ignores that one: every writer has already received the error.
 */
export function isCommitFailure(reason: unknown): reason is CommitFailure {
  return reason instanceof Error && 'commitError' in reason;
}

export interface WriteFailure {
  /** The error for the callers waiting for the write. */
  readonly told: unknown;
  /** The system's error; undefined when the disk did not fail. */
  readonly cause: unknown;
}

/** Size in bytes of the buffer into which the library (lmdb 3.5.6) prints a failed write, without a length check. */
const PRINTED_BYTES_MAX = 100;

/** True when the library overran its buffer while reporting this cause: the process's memory may then be corrupt. */
export function hasOverrun(cause: unknown): boolean {
  const printed = cause instanceof Error ? /Attempting to write page .*/.exec(cause.message)?.[0] : undefined;
  return printed !== undefined && printed.length >= PRINTED_BYTES_MAX;
}

/** Waits for the cause that follows a failed commit and classifies it. `folder` contains the data file. */
export async function failureOf(error: unknown, folder: string): Promise<WriteFailure> {
  if (error instanceof Refusal) return { told: error, cause: undefined };
  const cause = isCommitFailure(error) ? await error.commitError.catch((reason: unknown) => reason) : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (typeof code !== 'number' && !isCommitFailure(error)) return { told: error, cause: undefined };
  // LMDB reports a short write as an I/O error, so the free space decides.
  const full = FULL.has(Number(code)) || (code === EIO && freeBytes(folder) < limits.diskFreeBytesMin);
  return { told: new Refusal({ kind: full ? 'storage_full' : 'storage_failed' }), cause };
}

/** Bytes free for this user on the disk of a path, and the total available to this user, calculated like `df`. */
function diskBytes(path: string): { readonly free: number; readonly total: number } {
  const { bavail, bfree, blocks, bsize } = statfsSync(path);
  return { free: bavail * bsize, total: (blocks - bfree + bavail) * bsize };
}

/** Bytes by which a data file can grow, and its largest size on an empty disk: the smaller of disk and map. */
export function fileSpace(path: string, mapBytes: number): { readonly freeBytes: number; readonly totalBytes: number } {
  const fileBytes = statSync(path).size;
  const disk = diskBytes(path);
  return { freeBytes: Math.min(disk.free, mapBytes - fileBytes), totalBytes: Math.min(disk.total, mapBytes) };
}

/** Bytes free for this user on the disk of a folder. */
export function freeBytes(folder: string): number {
  return diskBytes(folder).free;
}
