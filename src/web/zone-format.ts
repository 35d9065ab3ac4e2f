/** Owns how times are written for a reader: in the time zone that the browser told, or in UTC, which is then said. */

export interface ZoneFormat {
  /** IANA name. */
  readonly name: string;
  /** A moment, ISO 8601, as `20 Nov 2026, 22:56`. */
  moment(iso: string): string;
  /** The calendar day of a moment, YYYY-MM-DD. */
  day(ms: number): string;
}

/** Zones that are kept open; making a formatter is slow, and there are some four hundred names. */
const ZONES_MAX = 600;

export class ZoneFormats {
  readonly #open = new Map<string, ZoneFormat>();

  /** The zone of an IANA name; UTC when there is none of that name. */
  find(name: string | undefined): ZoneFormat {
    const wanted = name !== undefined && /^[A-Za-z0-9_+/-]{1,64}$/.test(name) ? name : 'UTC';
    const known = this.#open.get(wanted);
    if (known !== undefined) return known;
    const zone = openZone(wanted);
    if (zone === undefined) return this.find('UTC');
    if (this.#open.size < ZONES_MAX) this.#open.set(wanted, zone);
    return zone;
  }
}

function openZone(timeZone: string): ZoneFormat | undefined {
  try {
    const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone });
    const days = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone });
    const { timeZone: name } = moments.resolvedOptions();
    const suffix = name === 'UTC' ? ' UTC' : '';
    return {
      name,
      moment: (iso) => moments.format(Date.parse(iso)) + suffix,
      day: (ms) => days.format(ms),
    };
  } catch {
    // No zone of that name: the constructor refuses it with a RangeError.
    return undefined;
  }
}

/** A calendar date, YYYY-MM-DD, as `20 Nov 2026`. */
export function dateText(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(
    Date.parse(`${date}T00:00:00Z`),
  );
}
