/** A clock that jumps: nothing is purged while it is wrong, and times are right again once it is. */
import { afterEach, expect, test } from 'vitest';
import { clockAhead } from '../support/clock.ts';
import { PASSWORD } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account, type Credential, credential, randomCommit, upload } from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';
import { PageClient, signedUp } from '../support/page-client.ts';
import { restOf, toolsOf } from '../support/portable.ts';
import { clockAt, Device, sha256Of } from '../support/sync.ts';
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
  const category = await rest('POST', '/api/categories', { name: 'in the bin' });
  await rest('DELETE', `/api/categories/${String(category['id'])}`);
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
  await toolsOf(at, owner)('update_category', { id: category['id'], restore: true });
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
  // Nothing is wrong but what the clock is told to be.
  const severe = at.logs.filter((line) => line['level'] === 50 && line['condition'] !== 'clock_behind');
  expect(severe).toEqual([]);
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

interface MadeTask {
  readonly task: { readonly id: number; readonly created_at: string };
}

const FIVE_YEARS_MS = 5 * 365 * DAY_MS;

/** Makes and deletes tasks and documents. Resolves with a task. */
async function writeSome(tools: ReturnType<typeof toolsOf>): Promise<MadeTask> {
  const wrong = await tools<MadeTask>('create_task', { content: 'made in 2031' });
  const done = await tools<MadeTask>('create_task', { content: 'deleted in 2031' });
  await tools('delete_task', { id: done.task.id });
  await tools('create_dev_doc', { title: 'a.md', content: 'made in 2031' });
  await tools('create_dev_doc', { title: 'b.md', content: 'deleted in 2031' });
  await tools('delete_dev_doc', { title: 'b.md' });
  const save = { project: 'p', topic: 't', date: '2026-11-20', time: '1200' };
  await tools('handoff_save', { ...save, content: 'first' });
  await tools('handoff_save', { ...save, content: 'second' });
  return wrong;
}

/** Everything that has times, as text. */
const shownTo = async (tools: ReturnType<typeof toolsOf>): Promise<string> =>
  JSON.stringify([
    await tools('list_tasks', {}),
    await tools('list_dev_docs', {}),
    await tools('get_dev_doc', { title: 'a.md', include_versions: true }),
    await tools('handoff_list', {}),
    await tools('sync_list', {}),
  ]);

/** Counts what is dated in the future, mends it, and finds nothing more. */
async function mend(at: Hub, found: Record<string, number>): Promise<void> {
  const doctor = await at.cli('doctor', '--json');
  expect(doctor.stdout).toContain('--fix-clock');
  const dry = await at.cli('doctor', '--fix-clock', '--json');
  expect(dry.code).toBe(1);
  expect(JSON.parse(dry.stdout)).toEqual({ ...found, mended: false });
  const mended = await at.cli('doctor', '--fix-clock', '--yes', '--json');
  expect([mended.code, mended.stderr, JSON.parse(mended.stdout)]).toEqual([0, '', { ...found, mended: true }]);
  const again = await at.cli('doctor', '--fix-clock', '--json');
  expect([again.code, JSON.parse(again.stdout)]).toEqual([
    0,
    { ...found, tasks: 0, documents: 0, versions: 0, files: 0, mended: false },
  ]);
  expect((await at.cli('doctor')).stdout).not.toContain('--fix-clock');
  expect(await verified(at)).toMatchObject({ ok: true });
}

test('[OPS-31] after a clock that was wrong once, new records have true times, and --fix-clock mends the others', async () => {
  const dataFolder = temporaryFolder();
  let at = await startAhead(dataFolder, 0);
  const owner = await account(at);
  const [desk, phone] = ['desk', 'phone'].map((name) => new Device(at, owner.mcp_key, name)) as [Device, Device];
  await desk.push('shared.md', 'before');
  expect(await at.stop()).toBe(0);

  at = await startAhead(dataFolder, FIVE_YEARS_MS);
  let tools = toolsOf(at, owner);
  const wrong = await writeSome(tools);
  for (const device of [desk, phone]) Object.assign(device, { hub: at });
  // By the hub's clock: the device sends none.
  const far = await desk.push('shared.md', 'in 2031', { base_sha: sha256Of('before'), hlc: undefined });
  expect(far.hlc).toMatch(/^2031-/);
  const pulled = await phone.result<{ cursor: string }>('sync_pull', { initial: true, device_id: 'phone' });
  const docs = await tools('pull_dev_docs', {});
  const browser = await signedUp(at, 'ahead@example.org', PASSWORD);
  expect((await browser.send('/settings')).status).toBe(200);
  // The first sweep notes that the clock is ahead.
  await at.waitForLog((line) => line['level'] === 50 && String(line['msg']).includes('the clock'));
  expect(await at.stop()).toBe(0);

  at = await startAhead(dataFolder, 0);
  await at.waitForLog((line) => line['level'] === 40 && String(line['msg']).includes('data is newer than the clock'));
  for (const device of [desk, phone]) Object.assign(device, { hub: at });
  tools = toolsOf(at, owner);
  // A session of that clock would last for years.
  const later = new PageClient(at);
  for (const [name, value] of browser.cookies) later.cookies.set(name, value);
  expect((await later.send('/settings')).status).toBe(303);
  const right = await tools<MadeTask>('create_task', { content: 'made today' });
  expect(right.task.id).toBeGreaterThan(wrong.task.id);
  expect(hoursFromNow(right.task.created_at)).toBeLessThan(1);
  const edited = await tools('update_dev_doc', { title: 'a.md', content: 'today', mode: 'replace' });
  expect(hoursFromNow(JSON.stringify(edited).match(/"updated_at":"([^"]+)"/)?.[1] ?? '')).toBeLessThan(1);
  const other = await desk.push('other.md', 'today', { base_sha: '0', hlc: undefined });
  expect(hoursFromNow(other.hlc.slice(0, 24))).toBeLessThan(1);
  // A device that sends no base is stopped by the far clock of the file, and nothing of it is lost.
  expect((await phone.refusedPush('shared.md', 'from the phone')).code).toBe(-32006);
  expect(await verified(at)).toMatchObject({ ok: true });

  await mend(at, { tasks: 2, documents: 3, versions: 4, files: 1, sign_ins: 1 });
  expect(await shownTo(tools)).not.toMatch(/"20(2[7-9]|3\d)-/);
  // Who pulled the far clock and the far place gets what came after them.
  const next = await phone.result<{ cursor: string; files: { path: string; hlc: string }[] }>('sync_pull', {
    cursor: pulled.cursor,
    device_id: 'phone',
  });
  expect(next.files.map(({ path }) => path)).toEqual(['other.md', 'shared.md']);
  await tools('create_dev_doc', { title: 'c.md', content: 'after the mend' });
  const more = JSON.stringify(await tools('pull_dev_docs', { cursor: docs['cursor'] }));
  for (const title of ['a.md', 'c.md']) expect(more).toContain(`"title":"${title}"`);
  for (const device of [desk, phone]) {
    await device.push('shared.md', `by clock from ${device.name}`, {
      hlc: clockAt(Date.now() + 1000 * device.name.length),
    });
  }
  expect(await verified(at)).toMatchObject({ ok: true });
  expect(await at.stop()).toBe(0);
});
