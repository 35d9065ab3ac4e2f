/**
 * Follows which synced files are excluded here. One that is missing when it takes part again was removed while this
 * device left it out: that is no delete, so it comes back from the hub. Pure.
 */
import type { BaseRecord, SyncState } from '../base/state.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../scan/scan.ts';

/** The base records that change with what is excluded; undefined: missing here and takes part again, to be forgotten. */
export function changesOfParticipation(
  { files, excludes, leavesOut }: Pick<Scan, 'files' | 'excludes' | 'leavesOut'>,
  { base }: Pick<SyncState, 'base'>,
): Map<FolderPath, BaseRecord | undefined> {
  const changes = new Map<FolderPath, BaseRecord | undefined>();
  for (const [path, record] of base) {
    const wasOut = record.isExcluded === true;
    const isHere = files.has(path);
    const isOut = !isHere && excludes(path);
    if (isOut && !wasOut) changes.set(path, { ...record, isExcluded: true });
    if (!wasOut || isOut) continue;
    if (isHere) changes.set(path, { ...record, isExcluded: undefined });
    else if (!leavesOut(path)) changes.set(path, undefined);
  }
  return changes;
}
