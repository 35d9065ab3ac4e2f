/**
 * Follows which synced files are excluded here. One that is missing when it takes part again was removed while this
 * device left it out: that is no delete, so it comes back from the hub.
 */

import type { SyncState } from '../state.ts';
import type { FolderPath } from './path.ts';
import type { Scan } from './scan.ts';

/** Marks the excluded files in the base record. Returns those missing here that take part again, and forgets them. */
export function takePartAgain({ files, excludes, leavesOut }: Scan, { base }: Pick<SyncState, 'base'>): FolderPath[] {
  const again: FolderPath[] = [];
  for (const [path, record] of base) {
    const wasOut = record.isExcluded === true;
    const isHere = files.has(path);
    const isOut = !isHere && excludes(path);
    if (isOut && !wasOut) base.set(path, { ...record, isExcluded: true });
    if (!wasOut || isOut) continue;
    if (isHere) base.set(path, { ...record, isExcluded: undefined });
    else if (!leavesOut(path)) {
      base.delete(path);
      again.push(path);
    }
  }
  return again;
}
