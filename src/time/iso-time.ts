/** Owns how a moment written in ISO 8601 is read. It refuses days and times that do not exist. Pure. */

const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Milliseconds since 1970-01-01 UTC; microseconds stand behind the point, what is finer is dropped.
 * Undefined: it is no such moment, or one before 1970.
 */
export function parseIsoMs(text: string): number | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match;
  const local = utcMs(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  if (local === undefined) return undefined;
  const ms = local + (fraction.length === 3 ? Number(fraction) : fractionMs(fraction)) - zoneMs(zone);
  return ms >= 0 ? ms : undefined;
}

/** Undefined: the calendar has no such day, the day no such second, or it is before 1970. */
function utcMs(year: number, month: number, day: number, hour: number, minute: number, second: number) {
  if (year < 1970 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
  return day > days ? undefined : Date.UTC(year, month - 1, day, hour, minute, second);
}

function fractionMs(fraction: string): number {
  const digits = fraction.slice(0, 6).padEnd(6, '0');
  return Number(digits.slice(0, 3)) + Number(digits.slice(3)) / 1000;
}

function zoneMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return (zone[0] === '-' ? -minutes : minutes) * 60_000;
}
