/** Decides which versions and settled conflicts are old enough to be removed. Pure. */
import { limits } from '../../limits/service.ts';
import { DAY_MS } from '../../time/calendar.ts';
import type { ConflictRecord } from '../log/records.ts';

/** What a round keeps: this many of the newest versions of a path, and everything since the cutoff. */
export interface Kept {
  readonly versionsMin: number;
  readonly cutoffMs: number;
}

/** What every hourly round keeps. */
export function keptAt(nowMs: number): Kept {
  return { versionsMin: limits.historyVersionsMin, cutoffMs: nowMs - limits.historyDays * DAY_MS };
}

/** What is kept when the owner asks to remove what is older than some days: the current versions, and everything since. */
export function keptOnRequest(nowMs: number, olderThanDays: number): Kept {
  return { versionsMin: 1, cutoffMs: nowMs - olderThanDays * DAY_MS };
}

/** `place`: from 0, the newest version of the path. */
export function isVersionDue(kept: Kept, place: number, storedMs: number): boolean {
  return place >= kept.versionsMin && storedMs < kept.cutoffMs;
}

export function isConflictDue(
  cutoffMs: number,
  { settled_at: settledAt }: Pick<ConflictRecord, 'settled_at'>,
): boolean {
  return settledAt !== null && settledAt < new Date(cutoffMs).toISOString();
}
