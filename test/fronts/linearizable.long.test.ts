/**
 * What many clients see over several fronts, some of which end meanwhile, is what one register a task would have shown: a read
 * that began after an answered write never misses it. FRONT_HISTORIES sets how many histories, FC_SEED which.
 */
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { type HubWithFronts, startWithFronts } from '../support/fronts.ts';
import { randomOf } from '../support/random.ts';
import { isLinearizable } from '../support/register-model.ts';
import { seed } from '../support/seed.ts';
import { FIRST, openHistories } from './histories.ts';

const HISTORIES = Number(process.env['FRONT_HISTORIES'] ?? 150);
const FRONTS = 3;
/** After this many histories a front ends, again and again. */
const CRASH_EVERY = 25;
const STALE = fileURLToPath(new URL('../support/stale-front.mjs', import.meta.url));

let hub: HubWithFronts | undefined;
afterEach(async () => {
  await hub?.stop();
  hub = undefined;
});

test(`[TASK-5] histories over ${FRONTS} fronts are linearizable (seed ${seed})`, { timeout: 7_200_000 }, async () => {
  const on = await startWithFronts(FRONTS);
  hub = on;
  const random = randomOf(seed);
  const histories = await openHistories(on);
  for (let history = 0; history < HISTORIES; history += 1) {
    if (history % CRASH_EVERY === CRASH_EVERY - 1) on.crash(1 + Math.floor(random() * FRONTS));
    const operations = await histories.run(random);
    expect([history, isLinearizable(operations, FIRST), operations]).toEqual([history, true, operations]);
  }
  histories.close();
  const restarted = on.logs.filter(({ msg }) => String(msg).startsWith('a front ended on its own'));
  expect(restarted.length).toBeGreaterThan(0);
  // Only who was connected to a front that ended was cut off.
  const { lost, clients } = histories;
  expect([lost.length <= restarted.length * clients, lost]).toEqual([true, lost]);
  expect(on.logs.filter(({ msg }) => String(msg).includes('failed unexpectedly'))).toEqual([]);
});

test(`fronts that remember an answer for too long are found out (seed ${seed})`, { timeout: 300_000 }, async () => {
  hub = await startWithFronts(FRONTS, {}, [STALE]);
  const random = randomOf(seed);
  const histories = await openHistories(hub);
  let isFound = false;
  for (let history = 0; history < 20 && !isFound; history += 1) {
    isFound = !isLinearizable(await histories.run(random), FIRST);
  }
  histories.close();
  expect(isFound).toBe(true);
});
