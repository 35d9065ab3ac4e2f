/** What code keeps within one decision, because a batch does not read its own puts. */
import type { Batch } from './group-commit.ts';

/**
 * Values by name of the decision that runs now: decisions are synchronous and run one at a time, so those of the one before
 * are forgotten when the next one asks.
 */
export class DecisionMemo<V> {
  #batch: Pick<Batch, 'get'> | undefined;
  #values = new Map<string, V>();

  /** The values of the decision that has this batch. */
  of(batch: Pick<Batch, 'get'>): Map<string, V> {
    if (batch !== this.#batch) {
      this.#batch = batch;
      this.#values = new Map();
    }
    return this.#values;
  }
}
