/** Runs a hub under strace, which watches its system calls or tampers with them. */
import { succeeds } from './succeeds.ts';

/** Whether this machine has strace and lets a user trace his own processes. */
export const canTrace = succeeds('strace', '-D', '-f', '-qq', '-o', '/dev/null', 'true');

/** What stands before node. The traced process stays the child, so that signals reach it. `rules` are options `-e`. */
export function straceWrapper(rules: readonly string[], output = '/dev/null'): string[] {
  return ['strace', '-D', '-f', '-qq', '-o', output, ...rules.flatMap((rule) => ['-e', rule])];
}
