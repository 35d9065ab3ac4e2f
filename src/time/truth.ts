/** Decides which time a record gets: the clock's, whatever a clock that was wrong once has left in earlier records. Pure. */

/** A stored time ahead of the clock by more than this was written by a clock that was wrong. */
export const CLOCK_SLACK_MS = 60_000;

/** True when a stored time is further in the future than a clock in order is ever set back. */
export function isFromTheFuture(storedMs: number, nowMs: number): boolean {
  return storedMs > nowMs + CLOCK_SLACK_MS;
}

/** Returns the time of a change after another: never before it, unless that was dated by a clock that was wrong. */
export function timeAfter(nowMs: number, earlierMs: number): number {
  return isFromTheFuture(earlierMs, nowMs) ? nowMs : Math.max(nowMs, earlierMs);
}

/** The same for a stored time in ISO 8601. */
export function timeAfterIso(nowMs: number, earlier: string): string {
  const ms = timeAfter(nowMs, earlier === last.iso ? last.ms : Date.parse(earlier));
  // The changes of a group mostly have the same millisecond, each after the one before.
  if (ms !== last.ms) last = { ms, iso: new Date(ms).toISOString() };
  return last.iso;
}

/** The last time given. */
let last = { ms: 0, iso: new Date(0).toISOString() };

/** True when something noted at a time was noted long enough ago, or by a clock that was wrong. */
export function isDueAgain(notedMs: number, nowMs: number, everyMs: number): boolean {
  return nowMs - notedMs >= everyMs || isFromTheFuture(notedMs, nowMs);
}

/** How far a clock in order may be ahead. What was made later than that is of a clock that was wrong. */
const AHEAD_MS_MAX = 86_400_000;

/**
 * True when something with an end is over: at its end, or when its end is later than that of anything made now, or within
 * a day by a clock that is ahead. Otherwise a clock that was wrong once would make it valid for years. `lifeMs`: how long
 * it lives at most.
 */
export function hasEnded(endMs: number, nowMs: number, lifeMs: number): boolean {
  return endMs <= nowMs || endMs > nowMs + lifeMs + AHEAD_MS_MAX;
}
