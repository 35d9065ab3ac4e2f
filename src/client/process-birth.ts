/**
 * Distinguishes a process from a later one with the same PID, by the boot ID, the PID namespace (a container has a
 * separate one) and the start time. Only Linux provides these without running another program (proc(5)).
 */
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Indexes in /proc/PID/stat after the name in parentheses: the state, and the start in ticks since the boot (field 22).
 */
const STATE = 0;
const START = 19;

/** `boot/namespace/start` of a living process; undefined when it does not exist or the system has no such values. */
export function birthOf(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const space = readlinkSync('/proc/self/ns/pid');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie: exited, but not yet reaped by its parent.
    if (fields[STATE] === 'Z') return undefined;
    return `${boot}/${space}/${fields[START] ?? ''}`;
  } catch {
    // Not Linux, or no such process.
    return undefined;
  }
}

export function bootOf(birth: string): string {
  return birth.slice(0, birth.indexOf('/'));
}

/** True when both births have the same boot and the same PID namespace. */
export function isVisible(birth: string, from: string): boolean {
  return birth.slice(0, birth.lastIndexOf('/')) === from.slice(0, from.lastIndexOf('/'));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
