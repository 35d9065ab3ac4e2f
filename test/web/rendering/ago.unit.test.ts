/** How long ago a moment was, in words. */
import { expect, test } from 'vitest';
import { agoText } from '../../../src/web/rendering/ago.tsx';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const MINUTE = 60_000;

test.each([
  [0, 'just now'],
  [59_000, 'just now'],
  [MINUTE, '1 minute ago'],
  [59 * MINUTE, '59 minutes ago'],
  [60 * MINUTE, '1 hour ago'],
  [24 * 60 * MINUTE, 'yesterday'],
  [30 * 24 * 60 * MINUTE, '30 days ago'],
  [31 * 24 * 60 * MINUTE, undefined],
  [-1, undefined],
])('[WEB-11] %i ms ago is %s', (age, words) => {
  expect(agoText(NOW - age, NOW)).toBe(words);
});
