/** Several devices that push at the same moment, while somebody reads page by page. */
import assert from 'node:assert/strict';
import { type Pushed, sha256Of } from '../../support/sync.ts';
import { type Push, QUOTA_BYTES } from './hub-model.ts';
import { pullAmongWrites } from './reads.ts';
import { argumentsOf } from './stage.ts';
import type { World } from './world.ts';

const PENDING_MAX = 4;
const CROWD = 12;
const NEVER_CURRENT = sha256Of('what nobody ever sent');

/**
 * Onto one path, all with the base that is current: one is taken and the others become conflicts, whatever their clocks say.
 * Or onto a new path each: all are taken, in some order.
 */
export async function burst(world: World, where: string, isContended: boolean): Promise<void> {
  const { stage, devices, byCursor } = world;
  const { model } = stage;
  world.edits += 1;
  const live = model.live(where);
  const path = live?.path ?? where;
  const pushes = devices.map(({ name, clock }): Push => {
    const content = `${name} in burst ${world.edits}\n`;
    const target = isContended
      ? { path, base: live?.sha ?? '' }
      : { path: `burst/${world.edits}/${name}.md`, base: '' };
    return { ...target, content, from: undefined, hlc: clock.tick(), device: name, resolves: undefined };
  });
  const isBlocked = live === undefined && model.clashes(path);
  const isTight = model.usage() + 1000 > QUOTA_BYTES || model.pendingOf(path).length > PENDING_MAX;
  if (isContended && (isBlocked || isTight)) return;
  if (isTight) return;
  for (const [at, { path: to, content }] of pushes.entries()) devices[at]?.write(to, () => content ?? '');
  const replies = Promise.all(pushes.map((push) => stage.call('sync_push', argumentsOf(push))));
  const canFollow = byCursor.place.cursor !== undefined && byCursor.place.deletesAfter === 0;
  if (canFollow) for (const limit of [1, 2]) byCursor.take(await pullAmongWrites(stage, byCursor.place, limit));
  const answered = (await replies).map((reply, at) => ({ reply, push: pushes[at], device: devices[at] }));
  const seqOf = (one: (typeof answered)[number]) =>
    (one.reply.result?.['structuredContent'] as Pushed | undefined)?.seq ?? Number.POSITIVE_INFINITY;
  // What was taken first, in the order in which it was taken; refused is only who comes after somebody.
  const inOrder = answered.toSorted((a, b) => (seqOf(a) < seqOf(b) ? -1 : 1));
  if (isContended) assert.equal(inOrder.filter((one) => Number.isFinite(seqOf(one))).length, 1, 'one of all is taken');
  for (const { reply, push, device } of inOrder) {
    if (push === undefined) continue;
    device?.learn(push, await stage.take(push, model.expect(push, Date.now()), reply));
  }
}

/** More devices than may have a conflict pending on one path, each with a base that was never current. */
export async function crowd({ stage, devices }: World, where: string): Promise<void> {
  const path = stage.model.live(where)?.path ?? where;
  for (let guest = 0; guest < CROWD; guest += 1) {
    const device = `guest ${guest}`;
    const hlc = devices[0]?.clock.tick() ?? '';
    const content = `${device} was here\n`;
    await stage.push({ path, content, from: undefined, base: NEVER_CURRENT, hlc, device, resolves: undefined });
  }
}
