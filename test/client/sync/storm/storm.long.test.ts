/** A short storm of real processes: watches, kills of clients and of the hub, every kind of change. */
import { expect, test } from 'vitest';
import { seed } from '../../../support/seed.ts';
import { cutStorm } from './cuts.ts';
import { storm } from './storm.ts';

test(`[SYN-24, SYN-25] after a storm all folders are equal, every conflict is visible and nothing is lost (FC_SEED=${seed})`, async () => {
  const limits = { watches: 3, operations: 250, pauseMs: 90, stillMs: 2000, faults: 0.02 };
  const { lost, different, other } = await storm({ seed, ...limits, rateLimit: 600, quietMs: 10_000 });
  expect({ lost, different, other }).toEqual({ lost: [], different: [], other: [] });
}, 600_000);

test(`[SYN-24] after syncs that lost the hub at any request all folders are equal (FC_SEED=${seed})`, async () => {
  const { different, other } = await cutStorm({ seed, devices: 3, rounds: 3 });
  expect({ different, other }).toEqual({ different: [], other: [] });
}, 600_000);
