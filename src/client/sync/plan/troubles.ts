/** Decides which paths a sync lists as not synced, and why. Pure. */

import { limits } from '../../../limits/service.ts';
import { nextCommand, pathWord } from '../../next-command.ts';
import type { SyncState } from '../base/state.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../scan/scan.ts';

const DAMAGED =
  "The hub's copy is damaged. A device that still has this version restores it with its next sync; for an earlier one";
export const LINKED =
  'It is now a link or a device here, and those are never synced. The hub keeps the file. List it in .cairnignore, or put the file back.';
const EARLIER = 'Earlier saves of it wait in .cairn/saves until the hub takes them.';

const MOST = `${limits.clientSavesBytesMax / 2 ** 20} MiB`;
const NOT_KEPT = `The saves that wait for the hub have reached ${MOST}, so not each save of it is kept. The file as it stands is sent.`;

export function whyDamaged(root: string, path: FolderPath): string {
  return `${DAMAGED}: ${nextCommand(root, `sync history ${pathWord(path)}`)}`;
}

/** Synced paths where a link or a device is by now: the hub keeps the file, and nobody else tells. */
export function linkedOver(links: Iterable<string>, base: SyncState['base']): FolderPath[] {
  return ([...links] as FolderPath[]).filter((path) => base.has(path));
}

/** The reason shown for a path with earlier saves that wait until the hub takes them. */
export const withEarlierSaves = (reason: string | undefined): string => joined(reason, EARLIER);

/** The reason shown for a path of which not each save was kept. */
export const withLostSaves = (reason?: string): string => joined(reason, NOT_KEPT);

const joined = (reason: string | undefined, more: string) =>
  reason === undefined ? more : `${reason.replace(/\.$/, '')}. ${more}`;

/** What a sync found out about problems of single paths. */
interface Found {
  readonly scan: Pick<Scan, 'skipped' | 'problems' | 'links' | 'leavesOut' | 'excludes'> | undefined;
  readonly troubles: ReadonlyMap<string, string>;
  readonly damaged: ReadonlyMap<FolderPath, string>;
}

export interface TroubleOptions {
  readonly root: string;
  /** True when a transfer of it is queued or under way; it is listed only if an earlier one failed. */
  readonly isMoving: (path: FolderPath) => boolean;
  /** Paths with earlier saves that wait until the hub takes them. */
  readonly saved: ReadonlySet<FolderPath>;
  /** Paths of which not each save was kept. */
  readonly lost: readonly FolderPath[];
}

/** The paths that differ between both sides, each with its reason. Conflicts have a separate list. */
export function troublesOf(
  { scan, troubles, damaged }: Found,
  { base, waits, foreign }: Pick<SyncState, 'base' | 'waits' | 'foreign'>,
  { root, isMoving, saved, lost }: TroubleOptions,
): Map<string, string> {
  const found = new Map(troubles);
  if (scan === undefined) return found;
  const { skipped, problems, links, leavesOut, excludes } = scan;
  for (const [path, reason] of [...problems, ...skipped, ...foreign]) found.set(path, reason);
  for (const path of damaged.keys()) if (!excludes(path)) found.set(path, whyDamaged(root, path));
  for (const path of linkedOver(links, base)) found.set(path, LINKED);
  for (const [path, { kind, reason, failed }] of waits) {
    const isOut = (kind === 'hub' && excludes(path)) || (isMoving(path) && failed === undefined);
    const isListed = found.has(path) || (leavesOut(path) && skipped.has(path));
    if (kind !== 'conflict' && kind !== 'held' && !isOut && !isListed) found.set(path, reason);
  }
  for (const path of saved) found.set(path, withEarlierSaves(found.get(path)));
  for (const path of lost) found.set(path, withLostSaves(found.get(path)));
  return found;
}
