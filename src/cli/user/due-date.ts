/** Reads dates as people type them. Pure. */
import { UsageError } from '../usage-error.ts';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * Returns a date as YYYY-MM-DD: `today`, `tomorrow`, the next day of that name after today, or `+N` days from today, in
 * the time zone of this machine. Throws UsageError for anything else that is not written as a date.
 */
export function readDue(text: string | undefined, now: Date): string | undefined {
  if (text === undefined || /^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  const days = daysAhead(text.toLowerCase(), now.getDay());
  if (days === undefined) {
    throw new UsageError('--due must be a date like 2026-12-01, today, tomorrow, a weekday, or +3 for in three days');
  }
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

function daysAhead(word: string, today: number): number | undefined {
  if (word === 'today') return 0;
  if (word === 'tomorrow') return 1;
  if (/^\+\d{1,4}$/.test(word)) return Number(word);
  const day = word.length < 3 ? -1 : DAYS.findIndex((name) => name.startsWith(word));
  return day < 0 ? undefined : ((day - today + 6) % 7) + 1;
}
