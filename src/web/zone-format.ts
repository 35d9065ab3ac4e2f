/** Formats times for a reader: in the time zone sent by the browser, or in UTC, marked as such. */
import { parseIsoMs } from '../time/iso-time.ts';

export interface ZoneFormat {
  /** IANA name. */
  readonly name: string;
  /** Formats an ISO 8601 time as `20 Nov 2026, 22:56`. */
  moment(iso: string): string;
  /** Reads a local time, `2026-11-20T22:56`, as milliseconds since 1970; undefined: there is no such time. */
  read(local: string): number | undefined;
  /** The calendar day of a time, YYYY-MM-DD. */
  day(ms: number): string;
  /** The time of day, `14:02`. */
  clock(ms: number): string;
  /** The day in words, `Wed 25 Nov 2026`. */
  dayName(ms: number): string;
}

/** Maximum of cached zones: creating a formatter is slow, and there are about four hundred names. */
const ZONES_MAX = 600;

export class ZoneFormats {
  readonly #open = new Map<string, ZoneFormat>();

  /** The zone of an IANA name; UTC for an unknown name. */
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
    const clocks = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone });
    const dayNames = new Intl.DateTimeFormat('en-GB', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone,
    });
    const { timeZone: name } = moments.resolvedOptions();
    const suffix = name === 'UTC' ? ' UTC' : '';
    return {
      name,
      moment: (iso) => moments.format(Date.parse(iso)) + suffix,
      day: (ms) => days.format(ms),
      clock: (ms) => clocks.format(ms),
      dayName: (ms) => dayNames.format(ms),
      read: (local) => readLocal(local, timeZone),
    };
  } catch {
    // The constructor throws a RangeError for an unknown zone.
    return undefined;
  }
}

/** Corrects a first reading as UTC by the offset of the zone, once more for a time next to a change of the clocks. */
function readLocal(local: string, timeZone: string): number | undefined {
  const asUtc = parseIsoMs(`${local}Z`);
  if (asUtc === undefined) return undefined;
  // Swedish writes ISO 8601, but for the T.
  const clock = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
  const offsetAt = (ms: number) => (parseIsoMs(`${clock.format(ms).replace(' ', 'T')}Z`) ?? ms) - ms;
  return asUtc - offsetAt(asUtc - offsetAt(asUtc));
}

/** Made when first needed: the first formatter of a process loads the data of its language, which takes 20 ms. */
let dates: { readonly whole: Intl.DateTimeFormat; readonly ofYear: Intl.DateTimeFormat } | undefined;

/** Formats a calendar date, YYYY-MM-DD, as `20 Nov 2026`, and without its year in the year of `today`. */
export function dateText(date: string, today: string): string {
  dates ??= {
    whole: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }),
    ofYear: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  };
  const format = date.slice(0, 4) === today.slice(0, 4) ? dates.ofYear : dates.whole;
  return format.format(Date.parse(`${date}T00:00:00Z`));
}
