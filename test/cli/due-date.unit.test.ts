/** Due dates as people type them at a shell. */
import { expect, test } from 'vitest';
import { readDue } from '../../src/cli/user/due-date.ts';

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
])('[CLI-1] --due %s is %s', (typed, date) => {
  expect(readDue(typed, NOW)).toBe(date);
});

test.each(['', 'next week', 'su', '5', '2026-1-5', '+', 'yesterday', '+99999'])(
  '[CLI-1] --due "%s" says what it takes',
  (typed) => {
    expect(() => readDue(typed, NOW)).toThrow(/must be a date like .* weekday/);
  },
);
