/** Runs a hub under strace, which watches its system calls or tampers with them. */
import { execFileSync } from 'node:child_process';

/** Whether this machine has strace and lets a user trace his own processes. */
export const canTrace = tryTrace();

function tryTrace(): boolean {
  try {
    execFileSync('strace', ['-D', '-f', '-qq', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** What stands before node. The traced process stays the child, so that signals reach it. `rules` are options `-e`. */
export function straceWrapper(rules: readonly string[], output = '/dev/null'): string[] {
  return ['strace', '-D', '-f', '-qq', '-o', output, ...rules.flatMap((rule) => ['-e', rule])];
}
