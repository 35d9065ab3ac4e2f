/** Plays histories against a hub and holds what is left of each against what must hold for any. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { settleDown } from './quiet.ts';
import { histories as historyVersions, list, pendingConflicts, pullPage, pullSince } from './reads.ts';
import type { HubHolder, Stage } from './stage.ts';
import { histories, SKEWS_MS } from './steps.ts';
import { newWorld, type World } from './world.ts';

const STEPS_MAX = 60;

/** Histories of two to five devices, as a property for fast-check. */
export function historyProperty(holder: HubHolder) {
  const skews = fc.array(fc.constantFrom(...SKEWS_MS), { minLength: 2, maxLength: 5 });
  return fc.asyncProperty(skews, histories(STEPS_MAX), async (skewsMs, steps) => {
    const world = await newWorld(holder, skewsMs);
    await fc.asyncModelRun(() => ({ model: {}, real: world }), steps);
    await checkAll(world);
    // What was held back comes when everybody thinks that all is quiet.
    for (const late of world.held.splice(0)) await world.stage.push(late);
    await settleDown(world.stage, world.devices);
    await checkAll(world);
  });
}

async function checkAll(world: World): Promise<void> {
  const { stage } = world;
  await list(stage, 3);
  await historyVersions(stage);
  await pendingConflicts(stage);
  await catchUp(world);
  await checkNothingLost(stage);
}

/** Who followed by cursor, and who followed by time, have both seen every file as it is now. */
async function catchUp({ stage, byCursor, bySince }: World): Promise<void> {
  for (let more = true; more; ) {
    const page = await pullPage(stage, byCursor.place, { limit: 3 });
    byCursor.take(page);
    more = page.hasMore;
  }
  bySince.see(await pullSince(stage, bySince.since));
  for (const [folded, versions] of stage.model.files) {
    const newest = versions.at(-1);
    // Who begins after a delete is not told of it.
    const told = [byCursor.seen.get(folded), bySince.seen.get(folded)];
    for (const seq of told)
      assert.ok(seq === newest?.seq || (seq === undefined && newest?.deleted), `${folded} was seen`);
  }
}

/** Every byte string that the hub took in is current, in history, or in a conflict. */
async function checkNothingLost(stage: Stage): Promise<void> {
  const { model, taken } = stage;
  for (const [folded, shas] of taken) {
    const versions = new Set(model.files.get(folded)?.map(({ sha }) => sha));
    const kept = new Set([...model.conflicts.values()].map(({ sha }) => sha));
    for (const sha of shas) assert.ok(versions.has(sha) || kept.has(sha), `${sha} of ${folded} is lost`);
  }
  // A settled conflict still has its bytes: it can be merged again.
  for (const { id } of model.conflicts.values()) await stage.result('sync_merge', { conflict_id: id });
}
