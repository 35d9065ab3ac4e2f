/** Validates and counts calendar dates as callers write them. Pure. */

export const DAY_MS = 86_400_000;

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days of a month of the Gregorian calendar, 1 to 12; 0 for any other number. */
export function daysOfMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (MONTH_DAYS[month - 1] ?? 0);
}

/** True for an existing date, written as YYYY-MM-DD. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = partOf(text, 8, 10);
  return day >= 1 && day <= daysOfMonth(partOf(text, 0, 4), partOf(text, 5, 7));
}

/** Returns the calendar date, YYYY-MM-DD, of a number of days from 1970-01-01. */
export function dateOfDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The calendar repeats after so many years. `Date.UTC` takes a year below 100 for one of the 20th century. */
const CYCLE_YEARS = 400;
const CYCLE_DAYS = 146_097;

/** Returns the number of days from 1970-01-01 to a calendar date. Its text is not parsed as a time, which takes longer. */
export function dayNumber(date: string): number {
  const [year, month, day] = [partOf(date, 0, 4), partOf(date, 5, 7), partOf(date, 8, 10)];
  return Date.UTC(year + CYCLE_YEARS, month - 1, day) / DAY_MS - CYCLE_DAYS;
}

/** The number that some digits of a date say. */
function partOf(date: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) number = number * 10 + date.charCodeAt(at) - ZERO;
  return number;
}

const ZERO = 48;
