/** The priority of threads beside the main thread, which answers everybody. */
import { getPriority, setPriority } from 'node:os';
import { limits } from '../limits/service.ts';

/** 0: the caller. On Linux that is the calling thread, elsewhere the whole process. */
const THIS_THREAD = 0;
const NICE_MAX = 19;

/**
 * What a thread of the pool adds to the priority of the process. The library takes −1 as the new priority for an error, which is what
 * nice(2) returns for both, so that number is passed over.
 */
export function threadNiceIncrement(): number {
  const isTakenForError = process.platform !== 'win32' && getPriority(THIS_THREAD) + limits.poolNice === -1;
  return isTakenForError ? limits.poolNice + 1 : limits.poolNice;
}

/** Lets the main thread go before the calling one where both want the same core. Does nothing but on Linux. */
export function yieldToMainThread(): void {
  if (process.platform !== 'linux') return;
  const nice = Math.min(getPriority(THIS_THREAD) + limits.poolNice, NICE_MAX);
  try {
    setPriority(THIS_THREAD, nice);
  } catch {
    // A sandbox may forbid it.
  }
}
