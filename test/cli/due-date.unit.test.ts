/** Due dates as people type them at a shell. */
import { expect, test } from 'vitest';
import { readDue } from '../../src/cli/dates/due-date.ts';

/** A Saturday. */
const NOW = new Date(2026, 11, 26, 23, 30);

test.each([
  ['2027-01-05', '2027-01-05'],
  ['today', '2026-12-26'],
  ['Tomorrow', '2026-12-27'],
  ['friday', '2027-01-01'],
  ['sat', '2027-01-02'],
  ['sunday', '2026-12-27'],
  ['+0', '2026-12-26'],
  ['+10', '2027-01-05'],
  ['next friday', '2027-01-01'],
  ['in 3 days', '2026-12-29'],
  ['in a week', '2027-01-02'],
  ['In 2  weeks', '2027-01-09'],
  ['in a month', '2027-01-26'],
  ['in 2 months', '2027-02-26'],
  ['next week', '2027-01-02'],
  ['24 Dec', '2027-12-24'],
  ['26 dec', '2026-12-26'],
  ['dec 31st', '2026-12-31'],
  ['24th of December 2028', '2028-12-24'],
  ['29 feb', '2028-02-29'],
  ['2027-1-5', '2027-01-05'],
])('[CLI-1] --due %s is %s', (typed, date) => {
  expect(readDue(typed, NOW)).toBe(date);
});

test.each(['', 'next year', 'su', '5', '31 feb', '2026-13-45', '24 decx', '+', 'yesterday', '+99999'])(
  '[CLI-1] --due "%s" says what it takes',
  (typed) => {
    expect(() => readDue(typed, NOW)).toThrow(/is no date; write .* weekday/);
  },
);
