/** How property tests run: from which seed, and how often. */

/** The seed of property tests: a new one each time, or the one that a failure named, by FC_SEED. */
export const seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** So many runs of a property; in `npm run test:long` five times as many, as `.vitest.config.ts` sets it. */
export const runs = (count: number): number => count * Number(process.env['PROPERTY_RUNS'] ?? 1);
