/** Calendar dates, beside the language's own reading of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS, dateOfDay, dayNumber, isCalendarDate } from '../../src/time/calendar.ts';

const seed = Math.floor(Math.random() * 2 ** 31);

test(`[TASK-1] a day of any year has the number that the language gives it, and back (seed ${seed})`, () => {
  const days = fc.integer({ min: Date.parse('0000-01-01') / DAY_MS, max: Date.parse('9999-12-31') / DAY_MS });
  fc.assert(
    fc.property(days, (day) => {
      const date = dateOfDay(day);
      expect([date, dayNumber(date), isCalendarDate(date)]).toEqual([date, day, true]);
    }),
    { seed, numRuns: 2000 },
  );
});

test('[TASK-1] every day of every month is a date, and no other is', () => {
  for (const year of ['0000', '0004', '0100', '1900', '1970', '2000', '2024', '2026', '9999']) {
    for (let number = 0; number < 100 * 100; number += 1) {
      const [month, day] = [Math.floor(number / 100), number % 100].map((part) => String(part).padStart(2, '0'));
      const date = `${year}-${month}-${day}`;
      const moment = new Date(`${date}T00:00:00Z`);
      const isThere = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(date);
      expect([date, isCalendarDate(date)]).toEqual([date, isThere]);
    }
  }
  for (const text of ['', '2026-1-01', '2026-01-01 ', '+02026-01-01', '2026-01-0a', '２０２６-01-01']) {
    expect([text, isCalendarDate(text)]).toEqual([text, false]);
  }
});
