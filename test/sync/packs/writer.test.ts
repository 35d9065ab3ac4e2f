/** Packing a long tail: several packs go to disk at once, and what later versions replaced is dead in each of them. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packs } from '../../../src/sync/log/pack-records.ts';
import { countDead } from '../../../src/sync/packs/dead-bits.ts';
import { PackStates } from '../../../src/sync/packs/states.ts';
import { openSyncDesk, type SyncDesk } from '../support.ts';

const WHO = 'account';
/** More than three packs have, of short lines. */
const FILES = 1700;
let desk: SyncDesk;

beforeEach(async () => {
  desk = await openSyncDesk(Date.parse('2026-11-20T12:00:00.000Z'));
});
afterEach(() => desk.close());

/** Writes the files with these numbers, and returns their vault. */
async function write(numbers: readonly number[], round: number): Promise<string> {
  desk.clock.ms += 1000;
  const { sync } = desk;
  const files = numbers.map((n) => ({ ok: true, value: desk.push(`f/${n}.md`, `${n} ${round}`) }) as const);
  const { vaultId, outcomes } = await sync.pushMany.push(WHO, { vaultId: undefined, files });
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  return vaultId;
}

const stored = (vaultId: string) => [...new PackStates(desk.store).from(vaultId, 1)];
const each = (step: number) => Array.from({ length: Math.ceil(FILES / step) }, (_, at) => at * step);

test('[SYN-20] packs of a long tail share commits, and lines replaced in another of them are dead', async () => {
  await write(each(1), 1);
  await write(each(3), 2);
  const vaultId = await write(each(5), 3);
  const { packer } = desk.sync.reading;
  await packer.packAll(vaultId);
  const made = stored(vaultId);
  expect(made.length).toBeGreaterThan(3);
  expect(desk.store.commitsTo([packs], vaultId)).toBeLessThan(made.length);
  expect(made.at(-1)?.summary.last).toBe(each(1).length + each(3).length + each(5).length);
  const alive = made.reduce((sum, { summary, dead }) => sum + summary.lines - countDead(dead), 0);
  expect(alive).toBe(FILES);
  expect(desk.problems()).toEqual([]);

  // In packs that were stored before, too.
  await write(each(2), 4);
  await packer.packAll(vaultId);
  const aliveNow = stored(vaultId).reduce((sum, { summary, dead }) => sum + summary.lines - countDead(dead), 0);
  expect(aliveNow).toBe(FILES);
  expect(desk.problems()).toEqual([]);
});
