/** Divides pending conflicts into groups, and finds the newest side of each. Pure. */
import type { FileRecord } from '../../../sync/log/file-record.ts';
import { parseHlc } from '../../../sync/log/hlc.ts';
import type { Conflict } from '../../../sync/log/reader.ts';
import type { ConflictKind } from '../../../sync/log/records.ts';
import { groupedBy } from '../../../text/grouped-by.ts';
import { parseIsoMs } from '../../../time/iso-time.ts';
import { parentOf } from '../paths.ts';

export const CONFLICT_GROUPINGS = [
  { value: 'folder', label: 'Folder' },
  { value: 'device', label: 'Device' },
  { value: 'kind', label: 'Kind' },
] as const;

export type ConflictGrouping = (typeof CONFLICT_GROUPINGS)[number]['value'];

export const KINDS: Readonly<Record<ConflictKind, string>> = {
  'edit/edit': 'both edited',
  'create/create': 'both created',
  'edit/delete': 'deleted on the hub',
  'delete/edit': 'deleted on the device',
};

export function readGrouping(text: string | null): ConflictGrouping {
  return CONFLICT_GROUPINGS.find(({ value }) => value === text)?.value ?? 'folder';
}

/** What the conflicts of a group have in common: a folder (empty: the vault itself), a device, or a kind. */
export function groupKeyOf({ record }: Conflict, by: ConflictGrouping): string {
  return by === 'folder' ? parentOf(record.path) : by === 'device' ? record.device_id : record.kind;
}

export interface ConflictGroup<C extends Conflict> {
  readonly key: string;
  readonly conflicts: readonly C[];
}

/** The groups, in the order of their first conflict. */
export function groupConflicts<C extends Conflict>(conflicts: readonly C[], by: ConflictGrouping): ConflictGroup<C>[] {
  const groups = groupedBy(conflicts, (conflict) => groupKeyOf(conflict, by));
  return [...groups].map(([key, grouped]) => ({ key, conflicts: grouped }));
}

/**
 * The newest of the refused changes of one path; undefined: the version on the hub is the newest. What counts is when the
 * files were changed, if all sides say so, else when the changes were sent. Of the same time, the hub's is kept.
 */
export function newestSide<C extends Conflict>(conflicts: readonly C[], file: FileRecord | undefined): C | undefined {
  const sides = [
    ...conflicts.map((conflict) => ({
      conflict,
      ...timesOf(conflict.record.mtime, conflict.record.your_hlc, conflict),
    })),
    ...(file === undefined ? [] : [{ conflict: undefined, ...timesOf(file.mtime, file.hlc, undefined) }]),
  ];
  const isChangeTimeKnown = sides.every(({ changedMs }) => changedMs !== undefined);
  const timeOf = (side: (typeof sides)[number]) => (isChangeTimeKnown ? side.changedMs : side.sentMs) ?? 0;
  const latest = Math.max(...sides.map(timeOf));
  return sides.findLast((side) => timeOf(side) === latest)?.conflict;
}

function timesOf(mtime: string | null, hlc: string, conflict: Conflict | undefined) {
  return {
    changedMs: mtime === null ? undefined : parseIsoMs(mtime),
    sentMs: parseHlc(hlc, '')?.ms ?? (conflict && Date.parse(conflict.record.detected_at)),
  };
}
