/** Where a card lands that is put before another: pure. */
import { expect, test } from 'vitest';
import { placeBefore } from '../../src/tasks/places.ts';

test('[WEB-9] everything above the place is placed with it, and what stood below unplaced stays so', () => {
  const shown = [1, 2, 3, 4];
  expect(placeBefore({ shown, placed: [] }, 4, 1)).toEqual([4]);
  expect(placeBefore({ shown, placed: [] }, 4, 2)).toEqual([1, 4]);
  expect(placeBefore({ shown, placed: [] }, 1, undefined)).toEqual([2, 3, 4, 1]);
  expect(placeBefore({ shown, placed: [1, 2] }, 2, 1)).toEqual([2, 1]);
  expect(placeBefore({ shown, placed: [1] }, 9, 2)).toEqual([1, 9]);
});

test('[WEB-9] a place before a card that is gone is the last one, and what is not shown keeps its place behind', () => {
  expect(placeBefore({ shown: [1, 2], placed: [7] }, 1, 5)).toEqual([2, 1, 7]);
});
