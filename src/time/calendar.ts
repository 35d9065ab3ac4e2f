/** Owns dates and moments as callers write them. Pure. */

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;
const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** True for a day that the calendar has, as YYYY-MM-DD. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** Days since 1970-01-01 of a calendar date. */
export function dayNumber(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

/** Milliseconds since the epoch of an ISO 8601 moment with its zone, or of a date alone (midnight UTC); else undefined. */
export function readInstant(text: string): number | undefined {
  const date = INSTANT.exec(text)?.[1];
  if (date === undefined || !isCalendarDate(date)) return undefined;
  const ms = Date.parse(text.replace(',', '.'));
  return Number.isNaN(ms) ? undefined : ms;
}
