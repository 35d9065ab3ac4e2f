/** A clock that jumps: nothing is purged while it is wrong, and times are right again once it is. */
import { afterEach, expect, test } from 'vitest';
import { clockAhead } from '../support/clock.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account, type Credential, credential, randomCommit, upload } from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';
import { restOf, toolsOf } from '../support/portable.ts';
import { Device } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const DAY_MS = 86_400_000;
const TEN_YEARS_MS = 3650 * DAY_MS;

let hub: Hub | undefined;
afterEach(() => hub?.kill());

/** Starts a hub whose clock is ahead by so many milliseconds, as a machine with a wrong clock has it. */
async function startAhead(dataFolder: string, aheadMs: number): Promise<Hub> {
  hub = await startHub({ dataFolder, env: clockAhead(aheadMs) });
  return hub;
}

const hoursFromNow = (time: string): number => Math.abs(Date.parse(time) - Date.now()) / 3_600_000;

test('[OPS-12] a clock ten years ahead purges nothing, and later times are right again', async () => {
  const dataFolder = temporaryFolder();
  let at = await startAhead(dataFolder, 0);
  const owner: Account & Credential = await account(at).then(async (made) => ({
    ...made,
    ...(await credential(at, made.mcp_key)),
  }));
  const rest = await restOf(at, owner);
  const task = await rest('POST', '/api/tasks', { content: 'in the bin' });
  await rest('DELETE', `/api/tasks/${String(task['id'])}`);
  expect((await upload(at, owner, randomCommit(), Buffer.from('before'))).status).toBe(200);
  await new Device(at, owner.mcp_key).push('a.md', 'before');
  expect(await at.stop()).toBe(0);

  at = await startAhead(dataFolder, TEN_YEARS_MS);
  const told = await at.waitForLog((line) => String(line['msg']).includes('the clock'));
  expect(told['level']).toBe(50);
  const jumped = randomCommit();
  expect((await upload(at, owner, jumped, Buffer.from('jumped'))).status).toBe(200);
  const ahead = await new Device(at, owner.mcp_key).push('b.md', 'jumped');
  expect(hoursFromNow(ahead.stored_at)).toBeGreaterThan(1000);
  expect(await at.stop()).toBe(0);
  expect(at.logs.filter((line) => line['removed'] !== undefined)).toEqual([]);

  at = await startAhead(dataFolder, 0);
  await toolsOf(at, owner)('update_task', { id: task['id'], restore: true });
  const shown = await (await restOf(at, owner))('GET', `/api/tasks/${String(task['id'])}`);
  expect(shown['content']).toBe('in the bin');
  const after = randomCommit();
  expect((await upload(at, owner, after, Buffer.from('after'))).status).toBe(200);
  const device = new Device(at, owner.mcp_key, 'after');
  const pushed = await device.push('c.md', 'after');
  const [newest, before] = await listAll(at, owner);
  expect([newest?.commit_sha, before?.commit_sha]).toEqual([after, jumped]);
  expect(hoursFromNow(String(newest?.uploaded_at))).toBeLessThan(1);
  expect(hoursFromNow(pushed.stored_at)).toBeLessThan(1);
  expect(pushed.seq).toBeGreaterThan(ahead.seq);
  const all = await device.result<{ files: { path: string }[] }>('sync_pull', { initial: true });
  expect(all.files.map(({ path }) => path)).toEqual(['a.md', 'b.md', 'c.md']);
  expect(await verified(at)).toMatchObject({ ok: true });
  expect(at.logs.filter((line) => line['level'] === 50)).toEqual([]);
});

test('[OPS-12] a hub that was off for a week holds what is due back, and tells so', async () => {
  const dataFolder = temporaryFolder();
  const first = await startAhead(dataFolder, 0);
  await account(first);
  expect(await first.stop()).toBe(0);
  const later = await startAhead(dataFolder, 7 * DAY_MS);
  await later.waitForLog((line) => line['level'] === 50 && String(line['msg']).includes('the clock'));
  expect(await later.stop()).toBe(0);
});
