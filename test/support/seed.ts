/** The seed of property tests: a new one each time, or the one that a failure named, by FC_SEED. */
export const seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
