/** sync_push_many under a rate limit: every 100 files count as one call. */
import { expect, test } from 'vitest';
import { type Device, newDevice } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

/** Ten calls may come at once. */
const hub = useHub({ env: { CAIRN_RATE_LIMIT: '30' } });
/** Four calls may come at once. */
const slowHub = useHub({ env: { CAIRN_RATE_LIMIT: '12' } });

const many = (device: Device, count: number, folder: string) => ({
  device_id: 'laptop',
  files: Array.from({ length: count }, (_, index) => device.pushOf(`${folder}/${index}`, 'x')),
});

test('[SYN-23] every 100 files count as one call, and what is over the limit is refused whole', async () => {
  const device = await newDevice(hub);
  expect(await device.result('sync_push_many', many(device, 501, 'first'))).toMatchObject({ accepted: 501 });
  const refused = await device.refusal('sync_push_many', many(device, 1000, 'second'));
  expect(refused).toMatchObject({ code: -32029, data: { retry_after_seconds: expect.any(Number) } });
  expect(await device.result('sync_list', {})).toMatchObject({ total_count: 501 });
});

test('[SYN-23] what the rate limit could never let through says how many files one call may hold', async () => {
  const device = await newDevice(slowHub);
  const refused = await device.refusal('sync_push_many', many(device, 401, 'a'));
  expect(refused).toMatchObject({ code: -32602, data: { field: 'files' } });
  expect(refused.message).toContain('at most 400 items');
});
