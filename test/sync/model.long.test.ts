/** Any history of devices, lost replies, wrong clocks and restarts: every answer is the model's, and nothing is lost. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verified } from '../support/mirror-state.ts';
import { seed } from '../support/seed.ts';
import { guardedProperty } from './model/guarded.ts';
import { historyProperty } from './model/history.ts';
import { openHolder } from './model/holder.ts';

const HISTORIES = 100;
const GUARDED_HISTORIES = 40;
/** Ends the search for a shorter counterexample, so that the one that is found is told. */
const ENDS = { interruptAfterTimeLimit: 500_000, markInterruptAsFailure: true };

let holder: Awaited<ReturnType<typeof openHolder>>;
beforeAll(async () => {
  holder = await openHolder();
});
afterAll(() => holder.hub.stop());

test(`[SYN-3, SYN-5, SYN-6, SYN-7, SYN-10, SYN-14, SYN-16, SYN-21, HLC-2] ${HISTORIES} histories of devices that sync, as modelled (FC_SEED=${seed})`, async () => {
  await fc.assert(historyProperty(holder), { seed, numRuns: HISTORIES, ...ENDS });
}, 600_000);

test(`[SYN-3, SYN-4, SYN-5, HLC-2] ${GUARDED_HISTORIES} histories of guarded pushes end alike under other clocks (FC_SEED=${seed})`, async () => {
  await fc.assert(guardedProperty(holder), { seed, numRuns: GUARDED_HISTORIES, ...ENDS });
}, 600_000);

test('[SYN-7, SYN-14, SYN-21] what all these histories left is whole, and every counter is what a recount gives', async () => {
  expect(await verified(holder.hub)).toMatchObject({ code: 0, ok: true, problems: [] });
});
