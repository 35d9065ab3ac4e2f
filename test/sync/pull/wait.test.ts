/** Waiting for a change: who is woken by what, and what ends a wait. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hub, startHub } from '../../support/hub.ts';
import { scrape } from '../../support/metrics.ts';
import { pull, SlowReader } from '../../support/pull.ts';
import { type Device, newDevice, sha256Of } from '../../support/sync.ts';

/** What a write takes at most where the disk is slow, and no more than a test waits. */
const HANDLER_SECONDS = 3;
const TOKEN = 'metrics-token-of-a-test';
let hub: Hub;
let device: Device;
let cursor: string | null;

beforeAll(async () => {
  // A handler has so few seconds here that a wait that is answered later has been given more.
  hub = await startHub({ env: { CAIRN_HANDLER_SECONDS: String(HANDLER_SECONDS), CAIRN_METRICS_TOKEN: TOKEN } });
  device = await newDevice(hub);
  await device.push('first', '1');
  ({ cursor } = await pull(device, { initial: true }));
});
afterAll(async () => {
  await hub.stop();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves once so many pulls wait at the hub. */
async function untilWaiting(count: number): Promise<void> {
  const waiting = async () => (await scrape(hub.url, { Authorization: `Bearer ${TOKEN}` })).sum('cairn_pulls_waiting');
  await expect.poll(waiting).toBe(count);
}

test('[SYN-22] a pull that waits answers with the change when it comes, to everybody who waits', async () => {
  const waiting = Array.from({ length: 5 }, () => pull(device, { cursor, wait_seconds: 50 }));
  waiting.push(pull(device, { since: new Date().toISOString(), wait_seconds: 50 }));
  await untilWaiting(6);
  await pause(HANDLER_SECONDS * 1000 + 1500);
  await device.push('second', '2');
  for (const { files } of await Promise.all(waiting)) expect(files.map(({ path }) => path)).toEqual(['second']);
});

test('[SYN-22] what is there already is answered at once, and so is a wait of no seconds', async () => {
  expect((await pull(device, { cursor, wait_seconds: 50 })).files).toHaveLength(1);
  const now = await pull(device, { cursor });
  expect(await pull(device, { cursor: now.cursor, wait_seconds: 0 })).toMatchObject({ total_count: 0 });
});

test('[SYN-22] a wait that nothing ends gives an empty answer and a cursor that is still good', async () => {
  const now = await pull(device, { cursor });
  const empty = await pull(device, { cursor: now.cursor, wait_seconds: 1 });
  expect(empty).toMatchObject({ files: [], deleted: [], has_more: false });
  await device.push('third', '3');
  expect((await pull(device, { cursor: empty.cursor })).files.map(({ path }) => path)).toEqual(['third']);
});

test("[SYN-22] a device is not woken by what it sends itself, nor by another vault, but by another device's deletion", async () => {
  const phone = device.other('phone');
  const { cursor: now } = await pull(phone, { initial: true });
  const waiting = pull(phone, { cursor: now, device_id: 'phone', wait_seconds: 50 });
  await untilWaiting(1);
  await phone.push('own', 'x');
  const { vault_id } = await device.result<{ vault_id: string }>('vault_create', { name: 'elsewhere' });
  await device.push('first', 'elsewhere', { vault_id });
  await device.result('sync_push', device.deleteOf('first', { base_sha: sha256Of('1') }));
  const { files, deleted } = await waiting;
  expect([files, deleted.map(({ path }) => path)]).toEqual([[], ['first']]);
});

test('[SYN-18, SYN-22] a pull that waits for changes of a vault is refused when that vault is deleted', async () => {
  const { vault_id } = await device.result<{ vault_id: string }>('vault_create', { name: 'awaited' });
  const { cursor: now } = await device.result<{ cursor: string }>('sync_pull', { vault_id, initial: true });
  const waiting = device.refusal('sync_pull', { vault_id, cursor: now, wait_seconds: 20 });
  await untilWaiting(1);
  await device.result('vault_delete', { vault_id, confirm: 'awaited' });
  expect(await waiting).toMatchObject({ data: { field: 'vault_id' } });
});

test('[SYN-22] a client that goes away ends its wait; a hub that stops answers everybody who waits', async () => {
  const { cursor: now } = await pull(device, { initial: true });
  const gone = new SlowReader(device, hub.port, { cursor: now, wait_seconds: 55 });
  await untilWaiting(1);
  gone.vanish();
  await untilWaiting(0);
  const waiting = Array.from({ length: 3 }, () => pull(device, { cursor: now, wait_seconds: 55 }));
  await untilWaiting(3);
  const stopped = hub.stop();
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ files: [], has_more: false });
  expect(await stopped).toBe(0);
});
