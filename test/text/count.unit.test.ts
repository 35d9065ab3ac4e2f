/** Counts for people. */
import { expect, test } from 'vitest';
import { countWithNoun } from '../../src/text/count.ts';

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [999, '999 files'],
  [2500, '2,500 files'],
  [1_234_567, '1,234,567 files'],
])('[CLI-1] %d is told as "%s"', (count, told) => {
  expect(countWithNoun(count, 'file')).toBe(told);
});
