/** How long a turn lasts, by who waits and who had work. */
import { expect, test } from 'vitest';
import { turnMsOf } from '../../src/common/fair/turn-length.ts';

test.each([
  ['work of one caller waits', true, Number.POSITIVE_INFINITY, 0.5],
  ['work waits, and several callers had some', true, 0, 0.5],
  ['another caller had work in this round', false, 0, 0.5],
  ['another caller had work a moment ago', false, 49.9, 0.5],
  ['a caller has been alone for a moment', false, 50, 2],
  ['a caller has been alone since the start', false, Number.POSITIVE_INFINITY, 2],
])('[NET-12] %s: a turn is as long as that allows', (_, waits, othersMs, turnMs) => {
  expect(turnMsOf({ waits, othersMs })).toBe(turnMs);
});
