/** The memory of two generations: the last value or none, never more weight than allowed, what is asked for stays. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Recent } from '../../src/cache/recent.ts';
import { seed } from '../support/seed.ts';

const WEIGHT_MAX = 10;
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];

const steps = fc.array(
  fc.record({
    key: fc.constantFrom(...KEYS),
    action: fc.oneof(fc.constant('get' as const), fc.constant('remove' as const), fc.nat(WEIGHT_MAX)),
  }),
  { maxLength: 80 },
);

test(`[TASK-5, LIM-2] in any history a key gives its last value or nothing, within the weight (seed ${seed})`, () => {
  fc.assert(
    fc.property(steps, (history) => {
      const memory = new Recent<number>(WEIGHT_MAX);
      const last = new Map<string, { readonly value: number; readonly weight: number }>();
      for (const [value, { key, action }] of history.entries()) {
        if (action === 'get') {
          const got = memory.get(key);
          if (got !== undefined) expect(got).toBe(last.get(key)?.value);
        } else if (action === 'remove') {
          memory.remove(key);
          last.delete(key);
        } else {
          memory.set(key, value, action);
          last.set(key, { value, weight: action });
          expect(memory.get(key)).toBe(action <= WEIGHT_MAX / 2 ? value : undefined);
        }
      }
      const left = KEYS.filter((key) => memory.get(key) !== undefined);
      expect(left.reduce((sum, key) => sum + (last.get(key)?.weight ?? 0), 0)).toBeLessThanOrEqual(WEIGHT_MAX);
    }),
    { seed, numRuns: 1000 },
  );
});

test('[LIM-2] what is asked for stays, and what is not goes', () => {
  const memory = new Recent<number>(WEIGHT_MAX);
  memory.set('asked', 0, 1);
  memory.set('idle', 0, 1);
  for (let index = 0; index < 100; index += 1) {
    memory.set(`one of many ${index}`, index, 1);
    expect(memory.get('asked')).toBe(0);
  }
  expect(memory.get('idle')).toBeUndefined();
});

test('[TASK-5] the same key of two groups names two values', () => {
  const memory = new Recent<string, number>(WEIGHT_MAX);
  memory.set(1, 'one', 1, 'a');
  memory.set(1, 'other', 1, 'b');
  expect([memory.get(1, 'a'), memory.get(1, 'b'), memory.get(1)]).toEqual(['one', 'other', undefined]);
  memory.remove(1, 'a');
  expect([memory.get(1, 'a'), memory.get(1, 'b')]).toEqual([undefined, 'other']);
});
