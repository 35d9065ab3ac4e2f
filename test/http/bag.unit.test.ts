/** Items that leave in any order. */
import { expect, test } from 'vitest';
import { Bag, NO_PLACE } from '../../src/http/bag.ts';

test('[NET-12] a bag has exactly the items that were added and not removed, whatever the order', () => {
  const bag = new Bag<{ bagPlace: number; readonly name: number }>();
  const expected = new Set<{ bagPlace: number; readonly name: number }>();
  let state = 7;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
  for (let step = 0; step < 5000; step += 1) {
    const items = bag.all();
    const item = items[random(Math.max(items.length, 1))];
    if (item === undefined || random(100) < 52) {
      const added = { bagPlace: NO_PLACE, name: step };
      bag.add(added);
      expected.add(added);
    } else {
      bag.remove(item);
      bag.remove(item);
      expected.delete(item);
    }
    expect(bag.size).toBe(expected.size);
  }
  expect(new Set(bag.all())).toEqual(expected);
  for (const item of bag.all()) bag.remove(item);
  expect(bag.size).toBe(0);
});
