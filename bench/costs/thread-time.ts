/** Reads the CPU time of the threads of a process from Linux's accounting. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ThreadTime {
  /** CPU time of the main thread, in microseconds. */
  readonly main: number;
  /** CPU time of all live threads, in microseconds. */
  readonly all: number;
}

/** Returns the CPU time used by a process so far. */
export function threadTime(pid: number): ThreadTime {
  let main = 0;
  let all = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const us = runUs(`/proc/${pid}/task/${task}/schedstat`);
    all += us;
    if (Number(task) === pid) main = us;
  }
  return { main, all };
}

/** Reads the first field of schedstat: nanoseconds on a processor. A thread that just ended has none. */
function runUs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return 0;
  }
}
