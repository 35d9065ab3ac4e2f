/** Tells what a machine has: by what a program answers there. */
import { execFileSync } from 'node:child_process';

/** True when a program exists and ends with 0. */
export function succeeds(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
