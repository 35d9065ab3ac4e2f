/** Which time a record gets, after records of a clock that was right, set back a little, or wrong by years. */
import { expect, test } from 'vitest';
import { hasEnded, isDueAgain, timeAfter, timeAfterIso } from '../../src/time/truth.ts';

const NOW = Date.parse('2026-11-20T20:00:00.000Z');
const YEAR = 365 * 86_400_000;

test.each<[earlier: number, at: number]>([
  [-YEAR, 0],
  [-1, 0],
  [0, 0],
  [1, 1],
  [60_000, 60_000],
  [60_001, 0],
  [5 * YEAR, 0],
])('[OPS-31] after a record %d ms from now, the next one is dated %d ms from now', (earlier, at) => {
  expect(timeAfter(NOW, NOW + earlier)).toBe(NOW + at);
  expect(timeAfterIso(NOW, new Date(NOW + earlier).toISOString())).toBe(new Date(NOW + at).toISOString());
});

test.each<[noted: number, due: boolean]>([
  [-60_000, true],
  [-59_999, false],
  [0, false],
  [60_000, false],
  [60_001, true],
  [5 * YEAR, true],
])('[OPS-31] what is noted every minute and was noted %d ms from now is due: %s', (noted, due) => {
  expect(isDueAgain(NOW + noted, NOW, 60_000)).toBe(due);
});

test.each<[end: number, ended: boolean]>([
  [-YEAR, true],
  [0, true],
  [1, false],
  [3_600_000, false],
  [3_600_000 + 86_400_000, false],
  [3_600_000 + 86_400_001, true],
  [5 * YEAR, true],
])('[OPS-31] what lives for an hour and ends %d ms from now is over: %s', (end, ended) => {
  expect(hasEnded(NOW + end, NOW, 3_600_000)).toBe(ended);
});
