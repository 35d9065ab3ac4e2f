/** What happens when everybody stops editing: each device pulls, pushes and merges until nothing is left to do. */
import assert from 'node:assert/strict';
import { sha256Of } from '../../support/sync.ts';
import type { SimulatedDevice } from './device.ts';
import { fold, nfc, type Push } from './hub-model.ts';
import { BEGINNING, pullPage } from './reads.ts';
import type { Outcome, Stage } from './stage.ts';

/** More rounds than any history of a few devices needs. */
const ROUNDS_MAX = 8;

interface Merged {
  readonly content: string | null;
  readonly deleted: boolean;
  readonly base_sha: string;
}

/** Brings all devices and the hub to one state; each must then have exactly what the hub has. */
export async function settleDown(stage: Stage, devices: readonly SimulatedDevice[]): Promise<void> {
  await dismissAll(stage);
  for (const device of devices) await lookAround(stage, device);
  for (let round = 0; ; round += 1) {
    assert.ok(round < ROUNDS_MAX, 'quiet devices come to an end');
    const before = stage.model.seq;
    let sent = 0;
    for (const device of devices) {
      await pullAll(stage, device);
      sent += await pushAll(stage, device);
      await pullAll(stage, device);
    }
    if (sent === 0 && stage.model.seq === before) break;
  }
  const wanted = stage.model.liveFiles().map(({ path, sha }) => `${path} ${sha}`);
  for (const device of devices) {
    const own = [...device.files].map(([path, { text }]) => `${path} ${sha256Of(text)}`);
    assert.deepEqual(own.toSorted(), wanted.toSorted(), `${device.name} has what the hub has`);
  }
}

/** Refused pushes hold room in the quota, and their devices have the bytes still. */
async function dismissAll(stage: Stage): Promise<void> {
  for (const conflict of stage.model.conflicts.values()) {
    if (conflict.status !== 'pending') continue;
    await stage.result('sync_resolve_conflict', { conflict_id: conflict.id, keep: 'theirs' });
    conflict.status = 'dismissed';
  }
}

/** Who was never told what became of a push looks at everything again, what counts as its own too. */
async function lookAround(stage: Stage, device: SimulatedDevice): Promise<void> {
  await pullAll(stage, device);
  if (!device.isUnsure) return;
  device.place = BEGINNING;
  device.forgetUntold(await pullAll(stage, device));
}

/** Resolves with the folded paths that it was told of. */
async function pullAll(stage: Stage, device: SimulatedDevice): Promise<ReadonlySet<string>> {
  const told = new Set<string>();
  for (let more = true; more; ) {
    const page = await pullPage(stage, device.place, { limit: 7 });
    device.apply(page);
    for (const { path } of page.records) told.add(fold(path));
    more = page.hasMore;
  }
  return told;
}

/** Gives how many files there was something to say of. */
async function pushAll(stage: Stage, device: SimulatedDevice): Promise<number> {
  let sent = 0;
  for (const path of [...device.gone.keys(), ...device.files.keys()]) {
    const push = device.pushOf(path);
    const file = device.files.get(path);
    const isDirty = file === undefined || sha256Of(file.text) !== file.base || file.from !== undefined;
    if (push === undefined || !isDirty) continue;
    sent += 1;
    await pushUntilSettled(stage, device, push);
  }
  return sent;
}

/** Pushes, and merges where the push meets a change. */
async function pushUntilSettled(stage: Stage, device: SimulatedDevice, first: Push): Promise<void> {
  const outcome = await send(stage, device, first);
  if (outcome.kind === 'taken') return;
  if (outcome.kind === 'refused') return await takeRefusal(stage, device, first);
  const merged = await stage.result<Merged>('sync_merge', { conflict_id: outcome.id, favor: 'ours' });
  // A rename that met a change is begun again as a new file.
  if (first.from !== undefined) return await startOver(stage, device, first);
  if (merged.content === null) {
    // Both have deleted it, or this device's delete stands against a change: the change is kept.
    await device.giveUp(stage, first.path);
    return;
  }
  device.write(first.path, () => merged.content ?? '');
  const again = await send(stage, device, {
    ...first,
    content: merged.content,
    base: merged.base_sha,
    resolves: outcome.id,
  });
  assert.equal(again.kind, 'taken', 'a merge is taken with the base that it came with');
}

async function send(stage: Stage, device: SimulatedDevice, push: Push): Promise<Outcome> {
  const sent = { ...push, hlc: device.clock.tick() };
  const outcome = await stage.push(sent);
  device.learn(sent, outcome);
  return outcome;
}

/** What a user would do: a rename without a source is a new file; what cannot be taken is given up. */
async function takeRefusal(stage: Stage, device: SimulatedDevice, push: Push): Promise<void> {
  if (push.from !== undefined && stage.model.live(push.from) === undefined) return await startOver(stage, device, push);
  await device.giveUp(stage, push.path);
  await bringBackSource(stage, device, push);
}

/** Forgets that a file had another name; what has that name on the hub stays. */
async function startOver(stage: Stage, device: SimulatedDevice, push: Push): Promise<void> {
  const file = device.files.get(nfc(push.path));
  if (file !== undefined) device.files.set(nfc(push.path), { text: file.text, base: undefined, from: undefined });
  device.conflicts.delete(nfc(push.path));
  await bringBackSource(stage, device, push);
}

async function bringBackSource(stage: Stage, device: SimulatedDevice, { from }: Push): Promise<void> {
  if (from !== undefined && !device.files.has(from)) await device.giveUp(stage, from);
}
