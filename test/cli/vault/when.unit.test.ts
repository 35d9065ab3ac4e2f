/** Times as people type them. */
import { expect, test } from 'vitest';
import { readTime } from '../../../src/cli/dates/when.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

test.each([
  ['2h', NOW - 7_200_000],
  ['3d ago', NOW - 3 * 86_400_000],
  ['90s', NOW - 90_000],
  ['2026-11-20', new Date(2026, 10, 20).getTime()],
  ['2026-11-20 18:00', new Date(2026, 10, 20, 18).getTime()],
  ['2026-11-20T18:00:30Z', Date.UTC(2026, 10, 20, 18, 0, 30)],
  ['2026-11-20 18:00+02:00', Date.UTC(2026, 10, 20, 16)],
])('[CLI-2] %s is a time', (text, ms) => {
  expect(readTime(text, NOW)).toBe(ms);
});

/** NOW is a Saturday. */
const LOCAL = new Date(NOW);
const dayAgo = (days: number, hours = 0, minutes = 0) =>
  new Date(LOCAL.getFullYear(), LOCAL.getMonth(), LOCAL.getDate() - days, hours, minutes).getTime();

test.each([
  ['now', NOW],
  ['2 days ago', NOW - 2 * 86_400_000],
  ['an hour ago', NOW - 3_600_000],
  ['today', dayAgo(0)],
  ['Yesterday', dayAgo(1)],
  ['yesterday 18:00', dayAgo(1, 18)],
  ['yesterday at 9:05', dayAgo(1, 9, 5)],
  ['last friday', dayAgo(1)],
  ['saturday', dayAgo(7)],
  ['tue 7:30', dayAgo(4, 7, 30)],
  ['last week', dayAgo(7)],
  ['20 nov', dayAgo(1)],
  ['24 dec', new Date(2025, 11, 24).getTime()],
  ['24 dec 2024, 10:00', new Date(2024, 11, 24, 10).getTime()],
])('[CLI-5] --at %s is a time in words', (text, ms) => {
  expect(readTime(text, NOW)).toBe(ms);
});

test.each([
  [''],
  ['soon'],
  ['2026-13-01'],
  ['2026-02-30'],
  ['18:00'],
  ['2026-11-20 25:00'],
  ['-2h'],
  ['tomorrow'],
  ['31 feb'],
  ['yesterday 25:00'],
])('[CLI-2] %j is not a time, and the error shows how one is written', (text) => {
  expect(() => readTime(text, NOW)).toThrow(/2026-11-20 18:00/);
});
