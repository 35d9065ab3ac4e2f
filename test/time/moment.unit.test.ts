/** Times as callers of tools write them. */
import { expect, test } from 'vitest';
import { readMoment } from '../../src/time/moment.ts';
import { openZone, UTC } from '../../src/time/zone.ts';

const nowMs = Date.parse('2026-11-28T12:00:00Z');

const read = (text: string, zone = 'UTC', day: 'first' | 'last' = 'first') => {
  const ms = readMoment(text, { nowMs, zone: openZone(zone), day });
  return ms === undefined ? undefined : new Date(ms).toISOString();
};

test.each([
  ['2026-11-27T18:00:00Z', 'UTC', '2026-11-27T18:00:00.000Z'],
  [' 2026-11-27T18:00+09:00 ', 'UTC', '2026-11-27T09:00:00.000Z'],
  ['2026-11-27', 'UTC', '2026-11-27T00:00:00.000Z'],
  ['2026-11-27', 'Asia/Seoul', '2026-11-26T15:00:00.000Z'],
  ['yesterday', 'America/Los_Angeles', '2026-11-27T08:00:00.000Z'],
  // 28 November has begun there 14 hours earlier.
  ['today', 'Pacific/Kiritimati', '2026-11-28T10:00:00.000Z'],
  ['Today', 'UTC', '2026-11-28T00:00:00.000Z'],
  ['now', 'UTC', '2026-11-28T12:00:00.000Z'],
  ['30m', 'UTC', '2026-11-28T11:30:00.000Z'],
  ['2h', 'UTC', '2026-11-28T10:00:00.000Z'],
  ['2 h ago', 'UTC', '2026-11-28T10:00:00.000Z'],
  ['90s', 'UTC', '2026-11-28T11:58:30.000Z'],
  ['10 minutes ago', 'UTC', '2026-11-28T11:50:00.000Z'],
  ['an hour ago', 'UTC', '2026-11-28T11:00:00.000Z'],
  ['1 day', 'UTC', '2026-11-27T12:00:00.000Z'],
  ['1w', 'UTC', '2026-11-21T12:00:00.000Z'],
])('[EVENT-1] %s in %s', (text, zone, expected) => expect(read(text, zone)).toBe(expected));

test('[EVENT-1] a day that ends a span lasts to its last moment, also one of 25 hours or without a midnight', () => {
  expect(read('2026-11-27', 'UTC', 'last')).toBe('2026-11-27T23:59:59.999Z');
  expect(read('2026-10-25', 'Europe/Berlin', 'last')).toBe('2026-10-25T22:59:59.999Z');
  // Clocks went from 24:00 of the day before to 1:00.
  expect(read('2024-09-08', 'America/Santiago')).toBe('2024-09-08T04:00:00.000Z');
});

test.each([
  '',
  'soon',
  '2026-11-31',
  '2026-11-27T18:00:00',
  '2026-11-27 18:00',
  '5',
  '2y',
  '3 months',
  'a',
  'constructor',
])('[EVENT-1] %j is no time', (text) => expect(read(text)).toBeUndefined());

test('[EVENT-1] a time long ago is not before 1970', () => {
  expect(readMoment('999999w', { nowMs, zone: UTC, day: 'first' })).toBe(0);
});
