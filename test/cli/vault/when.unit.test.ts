/** Times as people type them. */
import { expect, test } from 'vitest';
import { readTime } from '../../../src/cli/user/vault/when.ts';

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

test.each([[''], ['soon'], ['2026-13-01'], ['2026-02-30'], ['18:00'], ['2026-11-20 25:00'], ['-2h']])(
  '[CLI-2] %j is not a time, and the error shows how one is written',
  (text) => {
    expect(() => readTime(text, NOW)).toThrow(/2026-11-20 18:00/);
  },
);
