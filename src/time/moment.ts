/** Reads a time as callers of tools write it: a moment with its zone, a day, or how long ago. Pure. */
import { DAY_MS, dateOfDay, dayNumber, isCalendarDate } from './calendar.ts';
import { parseIsoMs } from './iso-time.ts';
import type { Zone } from './zone.ts';

/** What a time may be; completes a sentence. */
export const MOMENT_FORMS =
  'must be ISO 8601 with a zone (2026-11-27T18:00:00Z), a day (2026-11-27, yesterday) or how long ago (30m, 2h, 7d)';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

/** `90m`, `2 h ago`, `an hour ago`, `10 minutes ago`. */
const AGO = /^(\d{1,6} ?|an? )([smhdw]|(?:sec(?:ond)?|min(?:ute)?|h(?:ou)?r|day|week)s?)(?: ago)?$/;

const DAYS_AGO: Readonly<Record<string, number>> = { today: 0, yesterday: 1 };

/** No zone is further from UTC. */
const ZONE_SLACK_MS = 26 * 3_600_000;

export interface MomentContext {
  readonly nowMs: number;
  /** Where a day begins and ends. */
  readonly zone: Zone;
  /** What a day alone means: its first moment, or its last. */
  readonly day: 'first' | 'last';
}

/** Returns milliseconds since 1970, or undefined for a text that is no time. */
export function readMoment(text: string, { nowMs, zone, day }: MomentContext): number | undefined {
  const words = text.trim().toLowerCase();
  if (words === 'now') return nowMs;
  const [, count, unit = ''] = AGO.exec(words) ?? [];
  if (count !== undefined) {
    const number = count.startsWith('a') ? 1 : Number(count);
    return Math.max(0, nowMs - number * (UNIT_MS[unit.charAt(0)] ?? 0));
  }
  const ago = Object.hasOwn(DAYS_AGO, words) ? DAYS_AGO[words] : undefined;
  const named = ago === undefined ? words : dayBefore(zone.dayOf(nowMs), ago);
  if (!isCalendarDate(named)) return parseIsoMs(text.trim());
  return day === 'first' ? startOfDay(named, zone) : startOfDay(dayBefore(named, -1), zone) - 1;
}

/** The first moment of a day in a zone, found by halves: a day there may begin at any minute, or not at midnight. */
function startOfDay(day: string, zone: Zone): number {
  const utcMs = dayNumber(day) * DAY_MS;
  let [low, high] = [utcMs - ZONE_SLACK_MS, utcMs + ZONE_SLACK_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.dayOf(middle) >= day) high = middle;
    else low = middle;
  }
  return high;
}

function dayBefore(day: string, days: number): string {
  return dateOfDay(dayNumber(day) - days);
}
