/**
 * Tells one process from a later one with the same number: by the boot of the system, the space of process numbers (a
 * container has its own) and the moment at which it began. Linux alone says these without another program (proc(5)).
 */
import { readFileSync, readlinkSync } from 'node:fs';

/** Fields of /proc/PID/stat after the name in parentheses: the state, and the start in ticks since the boot (22nd of all). */
const STATE = 0;
const START = 19;

/** `boot/space/start` of a living process; undefined: there is none, or this system does not say. */
export function birthOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const space = readlinkSync('/proc/self/ns/pid');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Ended, and its parent has not looked yet.
    if (fields[STATE] === 'Z') return undefined;
    return `${boot}/${space}/${fields[START] ?? ''}`;
  } catch {
    // Another system, or no such process.
    return undefined;
  }
}

/** Which boot of which machine a birth belongs to. */
export function bootOf(birth: string): string {
  return birth.slice(0, birth.indexOf('/'));
}

/** Whether processes of one birth see the numbers of the other. */
export function isVisible(birth: string, from: string): boolean {
  return birth.slice(0, birth.lastIndexOf('/')) === from.slice(0, from.lastIndexOf('/'));
}

/** Whether a process has this number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, under another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
