/** What was answered about chunks holds for a day: such a chunk is not removed, whatever lets go of it meanwhile. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileChunks } from '../../../src/sync/log/records.ts';
import { chunksIn, listOf, MiB } from '../../support/large-files.ts';
import { sha256Of } from '../../support/sync.ts';
import { openSyncDesk, type SyncDesk } from '../support.ts';
import { PromiseModel } from './promise-model.ts';

const WHO = 'account';
const HOUR_MS = 3_600_000;
let desk: SyncDesk;
let vaultId: string;

beforeEach(async () => {
  desk = await openSyncDesk(Date.parse('2026-11-20T12:00:00.000Z'));
  vaultId = await desk.sync.vaults.idOf(WHO, undefined);
});
afterEach(() => desk.close());

const bytes = randomBytes(11 * MiB);
const names = chunksIn(bytes).map((chunk) => sha256Of(chunk));

async function send(): Promise<string[]> {
  const answers: string[] = [];
  for (const chunk of chunksIn(bytes)) {
    answers.push(await desk.sync.chunks.put({ accountId: WHO, vaultId }, sha256Of(chunk), Uint8Array.from(chunk)));
  }
  return answers;
}

const ask = () => desk.sync.chunks.missing({ accountId: WHO, vaultId }, names);
const pushOf = (path: string, more = {}) =>
  desk.push(path, listOf(chunksIn(bytes)), { sha256: sha256Of(bytes), encoding: 'chunks', ...more });
const push = (path: string, more = {}) => desk.sync.push.push(WHO, pushOf(path, more));
const stored = () => [...desk.store.keys(fileChunks, [vaultId])].map(([, name]) => name);

async function later(hours: number): Promise<void> {
  desk.clock.ms += hours * HOUR_MS;
  await desk.sync.retention.run();
}

test.each([
  ['asked for', async () => expect(await ask()).toEqual([])],
  ['sent again', async () => expect(new Set(await send())).toEqual(new Set(['known']))],
])('[SYN-38] chunks that no file has stay for a day after they were %s', async (_, isTold) => {
  await send();
  for (let times = 0; times < 3; times += 1) {
    await later(23);
    await isTold();
  }
  await later(24);
  expect((await push('late.bin')).status).toBe('created');
  expect(desk.problems()).toEqual([]);
});

test.each(['history', 'push'])('[SYN-38] an answer holds when the last list goes: of the %s', async (list) => {
  await send();
  const { record } = await push('one.bin');
  const gone = { path: 'one.bin', deleted: true, base_sha: record.sha256, device_id: 'd', mustHash: true };
  await desk.sync.push.push(WHO, gone);
  desk.clock.ms += 40 * 24 * HOUR_MS;
  expect(await ask()).toEqual([]);
  await desk.sync.retention.clear(vaultId, 1);
  // A delete that conflicts refuses such a push.
  if (list === 'push') await expect(push('one.bin', { base_sha: 'f'.repeat(64) })).rejects.toThrow();
  await later(24);
  expect(stored()).toHaveLength(11);
  expect((await push('two.bin')).status).toBe('created');
  expect(desk.problems()).toEqual([]);
});

test('[SYN-38] of chunks that are removed while they are asked for, none is said to be here', async () => {
  await send();
  desk.clock.ms += 26 * HOUR_MS;
  const [missing] = await Promise.all([ask(), desk.sync.retention.run(), ask()]);
  expect(new Set([...missing, ...stored()])).toEqual(new Set(names));
  expect(missing.filter((name) => stored().includes(name))).toEqual([]);
  const [answers] = await Promise.all([send(), desk.sync.retention.run()]);
  expect([answers.length, stored().length]).toEqual([11, 11]);
  expect(desk.problems()).toEqual([]);
});

test('[SYN-38] answers about large files hold whatever meets them', { timeout: 120_000 }, async () => {
  const model = await PromiseModel.open(1);
  try {
    for (let step = 0; step < 12; step += 1) await model.step();
    expect(model.problems()).toEqual([]);
    expect(model.seen.crashes).toBeGreaterThan(0);
    expect(model.seen.accepted).toBeGreaterThan(0);
  } finally {
    await model.close();
  }
});
