/** The judge of histories itself: what it must accept, and what it must not. */
import { expect, test } from 'vitest';
import { isLinearizable, type RegisterOperation } from '../support/register-model.ts';

const write = (value: string, calledMs: number, answeredMs: number): RegisterOperation => ({
  kind: 'write',
  value,
  calledMs,
  answeredMs,
});
const read = (value: string, calledMs: number, answeredMs: number): RegisterOperation => ({
  ...write(value, calledMs, answeredMs),
  kind: 'read',
});

test('a read beside a write may see either, and what followed in time may not be undone', () => {
  expect(isLinearizable([write('b', 1, 5), read('a', 2, 3), read('b', 4, 6)], 'a')).toBe(true);
  expect(isLinearizable([write('b', 1, 5), read('b', 2, 3), read('a', 4, 6)], 'a')).toBe(false);
});

test('a read that began after an answered write must see it, or one after it', () => {
  expect(isLinearizable([write('b', 1, 2), read('a', 3, 4)], 'a')).toBe(false);
  expect(isLinearizable([write('b', 1, 2), write('c', 1, 9), read('c', 3, 4), read('b', 5, 6)], 'a')).toBe(false);
  expect(isLinearizable([write('b', 1, 2), write('c', 1, 9), read('b', 3, 4), read('c', 5, 6)], 'a')).toBe(true);
});

test('a write that nobody heard of may take effect at any time, or never', () => {
  const lost = write('b', 1, Number.POSITIVE_INFINITY);
  expect(isLinearizable([lost, read('a', 2, 3), read('b', 8, 9)], 'a')).toBe(true);
  expect(isLinearizable([lost, read('a', 8, 9)], 'a')).toBe(true);
  expect(isLinearizable([lost, read('b', 2, 3), read('a', 8, 9)], 'a')).toBe(false);
});
