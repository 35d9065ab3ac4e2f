/** How property tests run: from which seed, and how often. */

/** The seed of property tests: a new one each time, or the one that a failure named, by FC_SEED. */
export const seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const factor = Number(process.env['PROPERTY_RUNS'] ?? 1);

/** So many runs of a property; in `npm run test:long`, as `vitest.config.ts` sets it, `long`, or five times as many. */
export const runs = (count: number, long = count * factor): number => (factor === 1 ? count : long);
