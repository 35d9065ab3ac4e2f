/** The power fails while people write: whatever the disk then holds, what was answered is there, and nothing is half there. */
import { expect, test } from 'vitest';
import { checkState, recordTrial, someStates } from '../support/power-cut-trial.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { canTrace } from '../support/strace.ts';

const ROUNDS = 12;
const STATES = 18;

test.runIf(canTrace)(
  `[OPS-2] whatever a power cut leaves on the disk, what was answered is there and nothing is half there (seed ${seed})`,
  async () => {
    const trial = await recordTrial(ROUNDS, randomOf(seed));
    expect(trial.ledger.counts.acknowledged).toBeGreaterThan(20);
    expect(trial.moments.length).toBeGreaterThan(STATES);
    let unflushed = 0;
    let answered = 0;
    for (const state of someStates(trial, STATES)) {
      unflushed += state.unflushed;
      const checked = await checkState(trial, state);
      expect(checked.problems).toEqual([]);
      answered += checked.answered;
    }
    expect(answered).toBeGreaterThan(STATES);
    // The cuts fell into the middle of things.
    expect(unflushed).toBeGreaterThan(STATES);
  },
  240_000,
);
