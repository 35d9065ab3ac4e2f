/** Declares a background sweep; compose/sweeper.ts runs them. */

/** One kind of expired data, and how to remove it. */
export interface Sweep {
  /** For the log: what was removed. */
  readonly what: string;
  /** True when the due data depends on the clock. The sweep is then skipped while the clock is wrong. */
  readonly byAge: boolean;
  /** Removes the due data and resolves with the number removed. */
  readonly run: () => Promise<number>;
}
