/** Owns how many connections the system lets this process have: each is an open file, and there are only so many. */
import { readFileSync } from 'node:fs';
import type { Log } from '../common/log.ts';
import { limits } from '../limits/service.ts';

/** The setting, or as many as the limit of open files leaves room for; that it is fewer goes into the log. */
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

/** The soft limit of this process; without end where the system does not tell. */
export function openFilesMax(): number {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return match === null ? Number.POSITIVE_INFINITY : Number(match[1]);
  } catch {
    // No such file outside Linux; then the setting stands.
    return Number.POSITIVE_INFINITY;
  }
}
