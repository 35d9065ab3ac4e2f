/** The cache: a value only at its own revision, never more weight than allowed, the longest unused first out. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Remembered } from '../../src/cache/lru.ts';
import { seed } from '../support/seed.ts';

const WEIGHT_MAX = 10;

type Step = { readonly key: string; readonly revision: number; readonly weight: number | undefined };

const steps = fc.array(
  fc.record<Step>({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    revision: fc.nat(1),
    weight: fc.option(fc.nat(WEIGHT_MAX + 1), { nil: undefined }),
  }),
  { maxLength: 60 },
);

test(`[TASK-5] in any history the cache answers as a plain list in the order of last use does (seed ${seed})`, () => {
  fc.assert(
    fc.property(steps, (history) => {
      const cache = new Remembered<number>(WEIGHT_MAX);
      let model: { key: string; revision: number; weight: number; value: number }[] = [];
      for (const [value, { key, revision, weight }] of history.entries()) {
        const known = model.find((each) => each.key === key);
        if (weight === undefined) {
          const hit = known?.revision === revision ? known : undefined;
          expect(cache.get(key, revision)).toBe(hit?.value);
          if (hit !== undefined) model = [...model.filter((each) => each !== hit), hit];
          continue;
        }
        cache.set(key, revision, value, weight);
        model = model.filter((each) => each !== known);
        if (weight > WEIGHT_MAX) continue;
        model.push({ key, revision, weight, value });
        while (model.reduce((sum, each) => sum + each.weight, 0) > WEIGHT_MAX) model.shift();
      }
    }),
    { seed, numRuns: 1000 },
  );
});
