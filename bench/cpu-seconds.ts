/** Reads the processor time of a process with all its threads, those that ended included. */
import { readFileSync } from 'node:fs';

/** Fixed by Linux for /proc/PID/stat. */
const TICKS_PER_SECOND = 100;

/** Returns the seconds that a process has used so far (proc(5), stat: utime and stime, fields 14 and 15). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
