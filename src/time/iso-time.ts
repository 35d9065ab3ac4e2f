/** Parses moments in ISO 8601, and is the only place that does. Rejects days and times that do not exist. Pure. */
import { DAY_MS, dayNumber, daysOfMonth, isCalendarDate } from './calendar.ts';

const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Returns milliseconds since 1970-01-01 UTC. Microseconds are the fraction; finer digits are dropped. Undefined for an
 * invalid moment or one before 1970.
 */
export function parseIsoMs(text: string): number | undefined {
  const ms = readMs(text);
  return ms === undefined || ms < 0 ? undefined : ms;
}

/**
 * Returns milliseconds since 1970-01-01 UTC, rounded down, of a moment with its zone or of a date alone (midnight UTC).
 * Otherwise undefined.
 */
export function readInstant(text: string): number | undefined {
  if (isCalendarDate(text)) return dayNumber(text) * DAY_MS;
  const ms = readMs(text);
  return ms === undefined ? undefined : Math.floor(ms);
}

function readMs(text: string): number | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone = 'Z'] = match;
  const local = utcMs(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  if (local === undefined) return undefined;
  const offsetMs = zoneMs(zone);
  if (offsetMs === undefined) return undefined;
  return local + (fraction.length === 3 ? Number(fraction) : fractionMs(fraction)) - offsetMs;
}

/** Undefined when the day or second does not exist, or `Date.UTC` would move the year to another century. */
function utcMs(year: number, month: number, day: number, hour: number, minute: number, second: number) {
  if (year < 100 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  return day > daysOfMonth(year, month) ? undefined : Date.UTC(year, month - 1, day, hour, minute, second);
}

function fractionMs(fraction: string): number {
  const digits = fraction.slice(0, 6).padEnd(6, '0');
  return Number(digits.slice(0, 3)) + Number(digits.slice(3)) / 1000;
}

/** Returns the offset in milliseconds. Undefined when its hours exceed 23 or its minutes 59. */
function zoneMs(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
