/**
 * Follows which synced files are excluded here. One that is missing when it takes part again was removed while this
 * device left it out: that is no delete, so it comes back from the hub. Pure.
 */
import type { BaseRecord } from '../base/state.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../scan/scan.ts';

/**
 * The base records that change with what is excluded; undefined: missing here and takes part again, to be forgotten.
 * `looked`: the paths that may have changed; default: all.
 */
export function changesOfParticipation(
  {
    files,
    excludes,
    leavesOut,
  }: Pick<Scan, 'excludes' | 'leavesOut'> & { readonly files: ReadonlyMap<FolderPath, unknown> },
  { base }: { readonly base: ReadonlyMap<FolderPath, BaseRecord> },
  looked: Iterable<FolderPath> = base.keys(),
): Map<FolderPath, BaseRecord | undefined> {
  const changes = new Map<FolderPath, BaseRecord | undefined>();
  for (const path of looked) {
    const record = base.get(path);
    if (record === undefined) continue;
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
