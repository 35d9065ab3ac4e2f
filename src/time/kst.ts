/** Calculates dates and times in Korea Standard Time: UTC+9 all year. Pure. */

import { DAY_MS } from './calendar.ts';

const OFFSET_MS = 9 * 3_600_000;

/** Returns the date of a moment, YYYY-MM-DD. */
export function kstDate(ms: number): string {
  return new Date(ms + OFFSET_MS).toISOString().slice(0, 10);
}

/** Returns the date `days` days before that of a moment. */
export function kstDateBefore(ms: number, days: number): string {
  return kstDate(ms - days * DAY_MS);
}

/** True for HHMM from 0000 to 2359. */
export function isTimeOfDay(text: string): boolean {
  return /^([01]\d|2[0-3])[0-5]\d$/.test(text);
}
