/** Decides how long things wait: a retry, a file to which a program keeps writing, a watch until its next sync. Pure. */
import { limits } from '../../../limits/service.ts';
import type { Failed, Wait } from '../base/state.ts';
import type { SeenFile } from '../folder/file.ts';

/** Syncs in a row that may change nothing, for example to compare what another one left. */
const IDLE_MAX = 3;

/** Milliseconds to pause after so many failures in a row before this one: doubled each time, up to a minute. */
export function backoffMs(failures: number): number {
  return Math.min(limits.clientRetryMs * 2 ** failures, limits.clientRetryMsMax);
}

/**
 * The sends of large files, by path: each send repeats the whole file, so a file to which a program keeps writing is sent
 * less and less often. One that stands still is sent at once: that state may be a version that a person wants back.
 */
export type Sends = ReadonlyMap<string, SentInRow>;

interface SentInRow {
  readonly inRow: number;
  readonly lastMs: number;
}

/** `sends` after a file of this size was sent. Times are milliseconds since 1970. */
export function afterSend(sends: Sends, path: string, bytes: number, nowMs: number): Map<string, SentInRow> {
  const next = new Map(sends);
  if (bytes < limits.clientRestlessBytes) next.delete(path);
  else next.set(path, { inRow: sendsInRow(sends, path, nowMs) + 1, lastMs: nowMs });
  return next;
}

/** When a changed file is sent at the latest, if it waits: it was sent a short time ago and does not stand still. */
export function restsUntilMs(
  sends: Sends,
  path: string,
  { bytes, changedMs }: Pick<SeenFile, 'bytes' | 'changedMs'>,
  nowMs: number,
): number | undefined {
  const last = sends.get(path);
  if (last === undefined || bytes < limits.clientRestlessBytes) return undefined;
  const dueMs = Math.min(changedMs + limits.clientRestMs, last.lastMs + backoffMs(last.inRow - 1));
  return dueMs > nowMs ? dueMs : undefined;
}

/** True when a file was sent several times in a row. */
export function isRestless(sends: Sends, path: string, nowMs: number): boolean {
  return sendsInRow(sends, path, nowMs) > 1;
}

/** Consecutive sends so far, each no longer than two pauses after the previous one. */
function sendsInRow(sends: Sends, path: string, nowMs: number): number {
  const last = sends.get(path);
  return last !== undefined && nowMs - last.lastMs < 2 * backoffMs(last.inRow - 1) ? last.inRow : 0;
}

/** `before` after writing a file of the hub failed again; several tries of one sync count once. */
export function afterFailure(before: Failed | undefined, nowMs: number): Failed {
  if (before !== undefined && nowMs - before.lastMs < limits.clientRetryMs) return before;
  return { inRow: (before?.inRow ?? 0) + 1, lastMs: nowMs };
}

/** When writing it is tried again (milliseconds since 1970). */
export function triedAgainMs({ inRow, lastMs }: Failed): number {
  return lastMs + backoffMs(inRow - 1);
}

/**
 * When the first of the files whose writing failed is tried again; infinite when none waits. One that was due long before `nowMs`
 * was tried, or cannot be written for another reason, which a change of the folder tells.
 */
export function firstTriedAgainMs(waits: Iterable<Pick<Wait, 'failed'>>, nowMs: number): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { failed } of waits) {
    const dueMs = failed === undefined ? Number.NEGATIVE_INFINITY : triedAgainMs(failed);
    if (dueMs > nowMs - limits.clientRetryMs) first = Math.min(first, dueMs);
  }
  return first;
}

/**
 * Milliseconds from the end of a sync to the next one that nobody asked for here, after so many in a row that changed
 * nothing: whatever causes them, they come less and less often.
 */
export function pauseAfterIdleMs(inRow: number): number {
  return inRow < IDLE_MAX ? 0 : backoffMs(inRow - IDLE_MAX);
}

/** What a watch knows when it begins to wait for its next sync. */
export interface WatchView {
  /** The system does not report every change. */
  readonly isBlind: boolean;
  /** Replaced files are kept aside: a program may still write to one, and no event reports that. */
  readonly hasAsides: boolean;
  /** When the first of the files that wait is sent, or written again (milliseconds since 1970); infinite when none waits. */
  readonly restsUntilMs: number;
}

/** Milliseconds until the next sync of a watched folder, if nothing is reported before. */
export function longestWaitMs({ isBlind, hasAsides, restsUntilMs: dueMs }: WatchView, nowMs: number): number {
  const rescanMs = isBlind ? limits.clientBlindRescanMs : limits.clientRescanMs;
  return Math.min(hasAsides ? limits.clientAsideMs : rescanMs, Math.max(0, dueMs - nowMs));
}
