/** Proves the days of time zones against moments that are known, those of changed clocks among them. */
import { expect, test } from 'vitest';
import { isTimeZone, openZone, zoneNameOf } from '../../src/time/zone.ts';

test.each([
  ['Asia/Seoul', '2026-11-20T14:59:59Z', '2026-11-20'],
  ['Asia/Seoul', '2026-11-20T15:00:00Z', '2026-11-21'],
  // The day of 23 hours, and the one of 25.
  ['Europe/Berlin', '2026-03-28T22:59:59Z', '2026-03-28'],
  ['Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29'],
  ['Europe/Berlin', '2026-03-29T21:59:59Z', '2026-03-29'],
  ['Europe/Berlin', '2026-03-29T22:00:00Z', '2026-03-30'],
  ['Europe/Berlin', '2026-10-25T22:59:59Z', '2026-10-25'],
  ['Europe/Berlin', '2026-10-25T23:00:00Z', '2026-10-26'],
  // A day that Samoa left out.
  ['Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31'],
  ['America/St_Johns', '2026-01-01T03:29:59Z', '2025-12-31'],
  ['UTC', '2026-01-01T00:00:00Z', '2026-01-01'],
])('[TASK-5] in %s, %s is %s', (name, moment, day) => {
  expect(openZone(name).dayOf(Date.parse(moment))).toBe(day);
});

test('[TASK-5] a zone is called as the database calls it, whatever case was sent', () => {
  expect(['asia/seoul', 'EUROPE/berlin', 'Asia/Kolkata', 'UTC', 'Etc/GMT+12'].map(zoneNameOf)).toEqual([
    'Asia/Seoul',
    'Europe/Berlin',
    'Asia/Kolkata',
    'UTC',
    'Etc/GMT+12',
  ]);
});

test('[TASK-5] zones are names of the IANA database', () => {
  for (const name of ['Asia/Seoul', 'asia/seoul', 'UTC', 'Etc/GMT+12', 'America/Argentina/Buenos_Aires']) {
    expect([name, isTimeZone(name)]).toEqual([name, true]);
  }
  for (const name of ['', 'Seoul', '+09:00', 'Asia/Seoul ', 'a'.repeat(80), '__proto__', 'Asia//Seoul']) {
    expect([name, isTimeZone(name)]).toEqual([name, false]);
  }
});
