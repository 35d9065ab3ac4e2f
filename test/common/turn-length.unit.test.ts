/** How long a turn lasts, by how long no work has waited. */
import { expect, test } from 'vitest';
import { turnMsAfter } from '../../src/common/fair/turn-length.ts';

test.each([
  ['work waits now', 0, 0.5],
  ['work waited in the last round', 0.6, 0.5],
  ['work waited a moment ago', 49.9, 0.5],
  ['no work has waited for a moment', 50, 2],
  ['no work has waited since the start', Number.POSITIVE_INFINITY, 2],
])('[NET-12] %s: a turn is as long as that allows', (_, calmMs, turnMs) => {
  expect(turnMsAfter(calmMs)).toBe(turnMs);
});
