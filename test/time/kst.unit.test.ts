/** Proves the dates of Korea Standard Time right at midnight, at the ends of months and years, and beside the system's zones. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTimeOfDay, kstDate, kstDateBefore } from '../../src/time/kst.ts';
import { seed } from '../support/seed.ts';

test.each([
  ['2026-11-20T14:59:59.999Z', '2026-11-20'],
  ['2026-11-20T15:00:00.000Z', '2026-11-21'],
  ['2026-11-30T14:59:59.999Z', '2026-11-30'],
  ['2026-11-30T15:00:00.000Z', '2026-12-01'],
  ['2026-12-31T14:59:59.999Z', '2026-12-31'],
  ['2026-12-31T15:00:00.000Z', '2027-01-01'],
  ['2024-02-28T15:00:00.000Z', '2024-02-29'],
  ['2024-02-29T15:00:00.000Z', '2024-03-01'],
  ['2026-02-28T15:00:00.000Z', '2026-03-01'],
  ['2026-03-29T01:00:00.000Z', '2026-03-29'],
])('[HAND-1] at %s it is %s in Korea', (moment, date) => {
  expect(kstDate(Date.parse(moment))).toBe(date);
});

test(`[HAND-1] the day is the one that the system's time zones have for Seoul (seed ${seed})`, () => {
  const seoul = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Seoul', dateStyle: 'short' });
  const moment = fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2100-01-01') });
  fc.assert(
    fc.property(moment, (ms) => {
      expect(kstDate(ms)).toBe(seoul.format(ms));
    }),
    { seed, numRuns: 2000 },
  );
});

test(`[HAND-4] so many days before is as many days of the calendar, across months and leap days (seed ${seed})`, () => {
  const moment = fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2100-01-01') });
  fc.assert(
    fc.property(moment, fc.integer({ min: 0, max: 2000 }), (ms, days) => {
      const difference = Date.parse(kstDate(ms)) - Date.parse(kstDateBefore(ms, days));
      expect(difference / 86_400_000).toBe(days);
    }),
    { seed },
  );
});

test('[HAND-1] a time of day is HHMM from 0000 to 2359', () => {
  const times = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(4, '0')).filter(isTimeOfDay);
  expect([times.length, times[0], times[60], times.at(-1)]).toEqual([1440, '0000', '0100', '2359']);
  for (const text of ['', '930', '9:30', '24:00', '2400', '0960', '+930', '００００', '0000\n'])
    expect(isTimeOfDay(text)).toBe(false);
});
