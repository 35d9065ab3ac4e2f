/** Reads dates as people type them. Pure. */
import { UsageError } from '../usage-error.ts';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** What a date may be, for help and refusals. */
export const DATE_FORMS = 'YYYY-MM-DD, today, tomorrow, a weekday, in 3 days, in 2 weeks, 24 dec, or +3';

/**
 * Returns a date as YYYY-MM-DD: `today`, `tomorrow`, the next day of that name after today (`fri`, `next friday`),
 * `in 3 days`, `in 2 weeks`, `in a month`, `+3`, or the next day of that date (`24 dec`, `dec 24`, `24 dec 2027`), in the
 * time zone of this machine. Throws UsageError for anything else that is not written as a date.
 */
export function readDue(text: string | undefined, now: Date): string | undefined {
  if (text === undefined) return text;
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const [, year, month, date] = (/^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(words) ?? []).map(Number);
  const day = laterDay(words, now) ?? dayOfMonth(words, now, 'next') ?? realDay(year, month, date);
  if (day === undefined) {
    throw new UsageError(`--due ${text === '' ? '""' : text} is no date; write ${DATE_FORMS}`);
  }
  return written(day);
}

/** A local date as YYYY-MM-DD. */
export function written(day: Date): string {
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/** Undefined for a day that no calendar has, such as 31 February. */
function realDay(year = Number.NaN, month = 0, date = 0): Date | undefined {
  const day = new Date(year, month - 1, date);
  return day.getMonth() === month - 1 && day.getDate() === date ? day : undefined;
}

function laterDay(words: string, now: Date): Date | undefined {
  const days = daysAhead(words, now.getDay());
  if (days !== undefined) return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
  const [, count = '', unit] = /^in (an?|\d{1,3}) (day|week|month|year)s?$/.exec(words) ?? [];
  const number = /^an?$/.test(count) ? 1 : Number(count);
  const [years, months, more] = [
    unit === 'year' ? number : 0,
    unit === 'month' ? number : 0,
    unit === 'week' ? number * 7 : number,
  ];
  if (unit === undefined) return undefined;
  const isDays = unit === 'day' || unit === 'week';
  const month = now.getMonth() + months;
  const last = new Date(now.getFullYear() + years, month + 1, 0).getDate();
  return new Date(now.getFullYear() + years, month, isDays ? now.getDate() + more : Math.min(now.getDate(), last));
}

function daysAhead(words: string, today: number): number | undefined {
  if (words === 'today' || words === 'tonight') return 0;
  if (words === 'tomorrow' || words === 'tmr') return 1;
  if (words === 'next week') return 7;
  if (/^\+\d{1,4}d?$/.test(words)) return Number.parseInt(words, 10);
  const day = weekdayOf(words.replace(/^(next|this|on) /, ''));
  return day === undefined ? undefined : ((day - today + 6) % 7) + 1;
}

/** The number of a weekday by its name or at least three letters of it, Sunday is 0; undefined for another word. */
export function weekdayOf(word: string): number | undefined {
  const day = word.length < 3 ? -1 : DAYS.findIndex((name) => name.startsWith(word));
  return day < 0 ? undefined : day;
}

/** Years between two days that a calendar has at most: 29 February, around a century without a leap day. */
const YEARS_APART = [0, 1, 2, 3, 4, 8];

/**
 * The day that `24 dec`, `dec 24` or `24th of december 2027` names. Without a year the next such day, or the last one,
 * today included. Undefined for other words.
 */
export function dayOfMonth(words: string, now: Date, which: 'next' | 'last'): Date | undefined {
  const named = dayAndMonth(words);
  if (named === undefined) return undefined;
  const { year, month, date } = named;
  if (year !== undefined) return realDay(year, month, date);
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  return YEARS_APART.map((years) => realDay(now.getFullYear() + (which === 'next' ? years : -years), month, date)).find(
    (day) => day !== undefined && (which === 'next' ? day >= today : day <= today),
  );
}

/** The parts of `24 dec`, `dec 24`, `24th of december 2027`; months count from 1. Undefined for other words. */
function dayAndMonth(words: string): { month: number; date: number; year: number | undefined } | undefined {
  const found =
    /^(?<day>\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?(?<month>[a-z]{3,9})\.?(?:,? (?<year>\d{4}))?$/.exec(words) ??
    /^(?<month>[a-z]{3,9})\.? (?<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?<year>\d{4}))?$/.exec(words);
  const { day = '', month: name = '', year } = found?.groups ?? {};
  const month = name === '' ? -1 : MONTHS.findIndex((one) => one.startsWith(name));
  return month < 0
    ? undefined
    : { month: month + 1, date: Number(day), year: year === undefined ? year : Number(year) };
}
