/** Owns how a moment written in ISO 8601 is read. It refuses days and times that do not exist. Pure. */

const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;

/**
 * Milliseconds since 1970-01-01 UTC; microseconds stand behind the point, what is finer is dropped.
 * Undefined: it is no such moment, or one before 1970.
 */
export function parseIsoMs(text: string): number | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match;
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  // What the calendar does not have comes back as another moment. (Years below 100 are taken for 19xx by the library.)
  if (new Date(local).toISOString().slice(0, 19) !== text.slice(0, 19)) return undefined;
  const digits = fraction.slice(0, 6).padEnd(6, '0');
  const ms = local + Number(digits.slice(0, 3)) + Number(digits.slice(3)) / 1000 - zoneMs(zone);
  return ms >= 0 ? ms : undefined;
}

function zoneMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return (zone[0] === '-' ? -minutes : minutes) * 60_000;
}
