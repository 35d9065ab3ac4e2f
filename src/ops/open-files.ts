/** Limits connections to the number of files that the process may open: each connection is an open file. */
import { readFileSync } from 'node:fs';
import type { Log } from '../common/log.ts';
import { StartError } from '../common/start-error.ts';
import { limits } from '../limits/service.ts';

/** Returns the setting, or fewer if the limit of open files is lower. Logs a warning in that case. */
export function connectionsThatFit(setting: number, log: Log): number {
  const files = openFilesMax();
  const most = Math.max(1, files - limits.openFilesReserve);
  if (setting <= most) return setting;
  log.warn(
    { connections: most, open_files: files },
    'CAIRN_CONNECTIONS is above what the limit of open files allows; raise that (ulimit -n, LimitNOFILE) or lower it',
  );
  return most;
}

/** Throws StartError when the limit is so low that Node.js cannot even load the program. */
export function requireOpenFiles(): void {
  const files = openFilesMax();
  if (files >= limits.openFilesMin) return;
  throw new StartError(
    `the limit of ${files} open files is too low to run; raise it to ${limits.openFilesMin} or more (ulimit -n, LimitNOFILE).`,
  );
}

/** The soft limit of this process, or of another; infinite when unknown. */
export function openFilesMax(pid: number | 'self' = 'self'): number {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'));
    return match === null ? Number.POSITIVE_INFINITY : Number(match[1]);
  } catch {
    // The file exists only on Linux. Elsewhere the setting applies.
    return Number.POSITIVE_INFINITY;
  }
}
