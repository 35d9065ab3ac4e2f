/** What a background sweep is; compose/sweeper.ts runs them. */

/** One kind of thing that is taken away. */
export interface Sweep {
  /** For the log: what was removed. */
  readonly what: string;
  /** Whether what is due depends on the clock: then it waits while the clock is wrong. */
  readonly byAge: boolean;
  /** Removes what is due; resolves with how many that were. */
  readonly run: () => Promise<number>;
}
