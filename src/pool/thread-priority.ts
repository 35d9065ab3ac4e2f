/** The priority of threads beside the main thread, which answers everybody. */
import { getPriority, setPriority } from 'node:os';
import { limits } from '../limits/service.ts';

/** 0: the caller. On Linux that is the calling thread, elsewhere the whole process. */
const THIS_THREAD = 0;
const NICE_MAX = 19;

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
