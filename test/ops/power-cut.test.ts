/** The power fails while people write: whatever the disk then holds, what was answered is there, and nothing is half there. */
import { expect, test } from 'vitest';
import { checkState, recordTrial, someStates } from '../support/power-cut-trial.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { canTrace } from '../support/strace.ts';

const ROUNDS = 12;
const STATES = 24;

test.runIf(canTrace)(
  `[OPS-2] whatever a power cut leaves on the disk, what was answered is there and nothing is half there (seed ${seed})`,
  async () => {
    const trial = await recordTrial(ROUNDS, randomOf(seed));
    expect(trial.ledger.counts.acknowledged).toBeGreaterThan(20);
    expect(trial.moments.length).toBeGreaterThan(STATES);
    let unflushed = 0;
    for (const state of someStates(trial, STATES)) {
      unflushed += state.unflushed;
      expect(await checkState(trial, state)).toEqual([]);
    }
    // The cuts fell into the middle of things.
    expect(unflushed).toBeGreaterThan(STATES);
  },
  240_000,
);
