/** kill -9 while devices push: what was answered is there, what was refused is kept, and every counter is exact. */
import { expect, test } from 'vitest';
import { newSyncTrial, syncCrashRound } from '../support/sync-crash.ts';

const ROUNDS = 5;

test('[OPS-2, SYN-5, SYN-7, SYN-21] kill -9 in the middle of pushes loses nothing answered and nothing refused', async () => {
  const trial = await newSyncTrial();
  let cutOff = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const result = await syncCrashRound(trial);
    expect(result.problems).toEqual([]);
    cutOff += result.cutOff;
  }
  await trial.hub.stop();
  // The kills hit something: pushes were under way, and some had been taken and some refused before.
  expect(cutOff).toBeGreaterThan(0);
  expect(trial.taken.size).toBeGreaterThan(0);
  expect(trial.refused.size).toBeGreaterThan(0);
}, 240_000);
