/** kill -9 while uploads run: what was answered is there, what was not is whole or absent. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { crashRound, newCrashTrial } from '../support/crash-round.ts';
import { startHub } from '../support/hub.ts';
import { download, mirrorAccount, randomCommit } from '../support/mirror.ts';
import { tookEverything, verified } from '../support/mirror-state.ts';
import { RawClient, uploadHead } from '../support/raw-client.ts';

const ROUNDS = 4;

test('[OPS-2, MIR-16] kill -9 in the middle of uploads loses nothing answered and shows nothing half-written', async () => {
  const trial = await newCrashTrial();
  let cutOff = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const result = await crashRound(trial);
    expect(result.problems).toEqual([]);
    cutOff += result.cutOff;
  }
  await trial.hub.stop();
  // The kills hit something: every client was in the middle of an upload, and some had been answered before.
  expect(cutOff).toBeGreaterThan(0);
  expect(trial.acknowledged.size).toBeGreaterThan(0);
}, 240_000);

test.each([40_000, 3_000_000])(
  '[OPS-3] SIGTERM in the middle of an upload of %i bytes lets it finish',
  async (size) => {
    const hub = await startHub();
    const who = await mirrorAccount(hub);
    const [commit, bytes] = [randomCommit(), randomBytes(size)];
    const client = await RawClient.open(hub);
    await client.send(uploadHead(who, commit, bytes));
    await client.send(bytes.subarray(0, size - 10));
    await tookEverything(hub);
    const exited = hub.stop();
    await hub.waitForLog((line) => line['msg'] === 'stopping');
    await client.send(bytes.subarray(size - 10));
    expect((await client.answer())?.json()).toMatchObject({ commit_sha: commit, byte_size: size });
    client.destroy();
    expect(await exited).toBe(0);
    const again = await startHub({ dataFolder: hub.dataFolder });
    try {
      expect((await download(again, who, commit)).bytes.equals(bytes)).toBe(true);
      expect(await verified(again)).toMatchObject({ code: 0, ok: true, blobs: 1, staged_uploads: 0 });
    } finally {
      await again.stop();
    }
  },
);

test('[OPS-3, MIR-16] SIGTERM gives an upload that never ends its deadline, and keeps nothing of it', async () => {
  const hub = await startHub({ env: { CAIRN_DRAIN_SECONDS: '1' } });
  const who = await mirrorAccount(hub);
  const bytes = randomBytes(3_000_000);
  const client = await RawClient.open(hub);
  await client.send(uploadHead(who, randomCommit(), bytes));
  await client.send(bytes.subarray(0, 2_500_000));
  await tookEverything(hub);
  expect(await hub.stop()).toBe(0);
  await client.closed;
  const again = await startHub({ dataFolder: hub.dataFolder });
  try {
    expect(await verified(again)).toMatchObject({ code: 0, ok: true, blobs: 0, staged_uploads: 0 });
  } finally {
    await again.stop();
  }
});
