/** A short soak: mixed load of orderly and rough clients, and kill -9 in the middle of it. */
import { afterEach, expect, test } from 'vitest';
import { Soak } from '../support/soak.ts';

const KILLS = 2;
const LIFE_MS = 4000;

let soak: Soak | undefined;
afterEach(async () => {
  await soak?.place.hub.kill();
  soak = undefined;
});

test('[OPS-2, NET-8] under mixed load with kill -9 nothing acknowledged is lost, and nothing of aborted bodies is kept', async () => {
  soak = await Soak.start();
  for (let kill = 0; kill < KILLS; kill += 1) {
    await soak.loadAndKill(LIFE_MS);
    expect(await soak.missing()).toEqual([]);
  }
  await soak.load(LIFE_MS);
  expect(soak.problems).toEqual([]);
  expect(await soak.missing()).toEqual([]);
  expect(await soak.damage()).toEqual([]);
  expect(soak.ledger.counts.acknowledged).toBeGreaterThan(50);
  // What a kill cuts off is a matter of chance: on a quick machine everybody may pause just then.
  expect(soak.counts.kills).toBe(KILLS);
}, 120_000);
