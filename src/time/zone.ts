/** Calculates calendar days in a time zone. Days of 23 or 25 hours need no special case: the zone names the day. */

export interface Zone {
  /** IANA name. */
  readonly name: string;
  /** Returns the calendar day of a moment, YYYY-MM-DD. */
  readonly dayOf: (ms: number) => string;
  /** Maximum number of days between the day in this zone and the day in UTC. */
  readonly slackDays: 0 | 1;
}

export const UTC: Zone = { name: 'UTC', dayOf: (ms) => new Date(ms).toISOString().slice(0, 10), slackDays: 0 };

/** Maximum number of cached zones. A formatter costs more than a short list, and there are about four hundred names. */
const ZONES_MAX = 600;
const open = new Map<string, Zone>();
/** Names of the database by their lower case. Read at the first use: it lists some four hundred. */
let names: ReadonlyMap<string, string> | undefined;

/** True for a name in the IANA database, in any case. An offset is not a zone. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format();
    return true;
  } catch {
    return false;
  }
}

/** Returns an IANA name in the case that the database has: `asia/seoul` is Asia/Seoul. */
export function zoneNameOf(name: string): string {
  names ??= new Map(Intl.supportedValuesOf('timeZone').map((known) => [known.toLowerCase(), known]));
  return names.get(name.toLowerCase()) ?? name;
}

/** Returns the zone with an IANA name. Throws RangeError when there is no such zone. */
export function openZone(name: string): Zone {
  if (name === 'UTC') return UTC;
  const known = open.get(name);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    timeZone: name,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const dayOf = (ms: number) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
  };
  const zone: Zone = { name, dayOf, slackDays: 1 };
  if (open.size < ZONES_MAX) open.set(name, zone);
  return zone;
}
