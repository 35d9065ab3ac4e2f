/** What processor time the threads of a process have taken, from Linux's own accounting. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ThreadTime {
  /** Of the thread that the process began with, in microseconds. */
  readonly main: number;
  /** Of all threads that live, in microseconds. */
  readonly all: number;
}

/** The processor time that a process has taken so far. */
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

/** The first field of schedstat: nanoseconds on a processor. A thread that just ended has none. */
function runUs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return 0;
  }
}
