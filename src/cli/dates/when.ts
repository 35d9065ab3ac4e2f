/** Parses a time typed by a person: a day in words or digits, with a time of day in the local or another zone, or a duration ago. Pure. */
import { UsageError } from '../usage-error.ts';
import { dayOfMonth, weekdayOf } from './due-date.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const WORD_MS: Readonly<Record<string, number>> = {
  second: UNIT_MS.s,
  minute: UNIT_MS.m,
  hour: UNIT_MS.h,
  day: UNIT_MS.d,
  week: UNIT_MS.w,
};

/** What a time may be, for help and refusals. */
export const TIME_FORMS = "'2026-11-20 18:00', 2026-11-20, yesterday, 'last friday 9:30', 2h or 2 days ago";

/** Parses a time. Returns milliseconds since 1970. Throws UsageError when the text is not a time. */
export function readTime(text: string, nowMs: number): number {
  const ago = /^(\d{1,6})\s*([smhdw])(?: ago)?$/.exec(text.trim());
  if (ago !== null) return nowMs - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS];
  const said = wordsAgo(text, nowMs);
  if (said !== undefined) return said;
  const date = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(text.trim());
  const [, day = '', time = '', zone = ''] = date ?? [];
  // A date or time without a zone is local.
  const ms = date === null ? Number.NaN : Date.parse(`${day}T${time || '00:00'}${zone}`);
  const isDay = date !== null && new Date(`${day}T00:00Z`).getUTCDate() === Number(day.slice(8));
  if (Number.isNaN(ms) || !isDay) {
    throw new UsageError(`${text === '' ? '""' : text} is not a time; write e.g. ${TIME_FORMS}`);
  }
  return time !== '' && zone === '' ? onlyTime(Date.parse(`${day}T${time}Z`), ms) : ms;
}

/**
 * Returns the moment of a local time. `asUtcMs`: the same fields read as UTC. Throws UsageError when clocks were put back
 * or ahead then, so that it was twice or never: a restore would go to another hour than meant.
 */
function onlyTime(asUtcMs: number, ms: number): number {
  const offsets = [-UNIT_MS.d, UNIT_MS.d].map((aside) => offsetMs(asUtcMs + aside));
  const [first = 0, second = 0] = offsets;
  if (Number.isNaN(asUtcMs) || first === second) return ms;
  const moments = offsets.filter((offset) => offsetMs(asUtcMs - offset) === offset);
  if (moments.length === 1) return ms;
  const typed = new Date(asUtcMs).toISOString().replace(/(?::00)?\.000Z$|Z$/, '');
  if (moments.length === 0) {
    throw new UsageError(`${typed} never was: clocks here were put ahead over it; write an earlier or a later time`);
  }
  const [early, late] = moments.map((offset) => `${typed}${zoneText(offset)}`);
  throw new UsageError(
    `${typed} was twice: clocks here were put back then; write ${early} or, for the later one, ${late}`,
  );
}

/** How far local clocks were ahead of UTC at a moment. */
const offsetMs = (ms: number): number => -new Date(ms).getTimezoneOffset() * UNIT_MS.m;

function zoneText(offset: number): string {
  const clock = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${offset < 0 ? '-' : '+'}${clock}`;
}

/** `now`, `3 days ago`, `an hour ago`, or a day in words with a time of day or none. */
function wordsAgo(text: string, nowMs: number): number | undefined {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  if (words === 'now') return nowMs;
  const [, count = '', unit = ''] = /^(an?|\d{1,6}) (second|minute|hour|day|week)s? ago$/.exec(words) ?? [];
  if (unit !== '') return nowMs - (/^an?$/.test(count) ? 1 : Number(count)) * (WORD_MS[unit] ?? 0);
  const [, named = words, hours, minutes = '0'] = /^(.+?),?(?: at)? (\d{1,2}):(\d\d)$/.exec(words) ?? [];
  const day = earlierDay(named, new Date(nowMs));
  if (day === undefined || Number(hours ?? 0) > 23 || Number(minutes) > 59) return undefined;
  const fields = [day.getFullYear(), day.getMonth(), day.getDate(), Number(hours ?? 0), Number(minutes)] as const;
  const ms = new Date(...fields).getTime();
  return hours === undefined ? ms : onlyTime(Date.UTC(...fields), ms);
}

/**
 * The newest day that words name, today included where they can mean it: `today`, `yesterday`, `last week`, `friday`,
 * `last friday`, `24 dec`. Undefined when they name no day.
 */
export function earlierDay(words: string, now: Date): Date | undefined {
  const ago = { today: 0, yesterday: 1, 'last week': 7 }[words] ?? weekdayAgo(words, now.getDay());
  if (ago !== undefined) return new Date(now.getFullYear(), now.getMonth(), now.getDate() - ago);
  return dayOfMonth(words, now, 'last');
}

function weekdayAgo(words: string, today: number): number | undefined {
  const day = weekdayOf(words.replace(/^(?:last|this|on) /, ''));
  return day === undefined ? undefined : ((today - day + 6) % 7) + 1;
}
