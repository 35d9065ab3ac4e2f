/** What a background sweep is; compose/sweeper.ts runs them. */

/** One kind of thing that is taken away. */
export interface Sweep {
  /** For the log: what was removed. */
  readonly what: string;
  /** Removes what is due; resolves with how many that were. */
  readonly run: () => Promise<number>;
}
