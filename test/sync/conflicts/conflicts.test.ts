/** Conflicts and deletes from outside: what is refused is kept, and nothing comes back that was deleted. */
import { beforeAll, expect, test } from 'vitest';
import { clockAt, type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 30, verified: true });
let laptop: Device;
let phone: Device;

beforeAll(async () => {
  laptop = await newDevice(hub);
  phone = laptop.other('phone');
});

const old = clockAt(1000);

test('[SYN-5] a retry of a refused push gives the same conflict; other bytes or another device another one', async () => {
  await laptop.push('retry.txt', 'one');
  const refuse = async (device: Device, content: string) =>
    (await device.refusedPush('retry.txt', content, { hlc: old })).data['conflict_id'];
  const first = await refuse(phone, 'mine');
  expect(await refuse(phone, 'mine')).toBe(first);
  expect(await refuse(laptop.other('tablet'), 'mine')).not.toBe(first);
  expect(await refuse(phone, 'mine again')).not.toBe(first);
});

test('[SYN-5] a long refused push is kept as well', async () => {
  await laptop.push('long.txt', 'one');
  const long = 'l'.repeat(3_000_000);
  const first = await phone.refusedPush('long.txt', long, { hlc: old });
  expect(first).toMatchObject({ code: -32006, data: { conflict_id: expect.any(String) } });
  expect((await phone.refusedPush('long.txt', long, { hlc: old })).data).toEqual(first.data);
});

test('[SYN-6] a delete needs base_sha, leaves a tombstone, and says the same again', async () => {
  const { sha256, hlc } = await laptop.push('gone.txt', 'one');
  const unguarded = await laptop.refusal('sync_push', laptop.deleteOf('gone.txt'));
  expect(unguarded).toMatchObject({ code: -32602, data: { field: 'base_sha', current_sha: sha256 } });
  const deleted = await laptop.result('sync_push', laptop.deleteOf('gone.txt', { base_sha: sha256 }));
  expect(deleted).toMatchObject({ status: 'deleted', previous_hlc: hlc, size_bytes: 0, sha256 });
  const again = await laptop.result('sync_push', laptop.deleteOf('gone.txt', { base_sha: sha256 }));
  expect(again).toMatchObject({ status: 'unchanged', seq: deleted['seq'] });
  expect(await laptop.refusal('sync_push', laptop.deleteOf('never.txt'))).toMatchObject({ code: -32005 });
});

test('[SYN-6] a change that it did not know of beats a delete, in either order', async () => {
  const { sha256: base_sha } = await laptop.push('both.txt', 'one');
  await laptop.push('both.txt', 'two');
  const refused = await phone.refusal('sync_push', phone.deleteOf('both.txt', { base_sha }));
  expect(refused).toMatchObject({ code: -32006, data: { kind: 'delete/edit', server_sha256: sha256Of('two') } });
  await laptop.result('sync_push', laptop.deleteOf('both.txt', { base_sha: sha256Of('two') }));
  const late = await phone.refusedPush('both.txt', 'mine', { base_sha: sha256Of('two') });
  expect(late).toMatchObject({ code: -32006, data: { kind: 'edit/delete', server_sha256: null } });
});

test('[SYN-3, SYN-6] over a tombstone: newer and new bytes are taken, old clocks and bytes of before are not', async () => {
  for (const content of ['one', 'two', 'three']) await laptop.push('tomb.txt', content);
  await laptop.result('sync_push', laptop.deleteOf('tomb.txt', { base_sha: sha256Of('three') }));
  for (const content of ['one', 'two', 'three']) {
    const refused = await phone.refusedPush('tomb.txt', content, { hlc: clockAt(Date.now()) });
    expect(refused).toMatchObject({ code: -32006, data: { kind: 'edit/delete' } });
  }
  expect(await phone.refusedPush('tomb.txt', 'four', { hlc: old })).toMatchObject({ code: -32006 });
  const made = await phone.push('tomb.txt', 'four', { hlc: clockAt(Date.now()) });
  expect(made).toMatchObject({ status: 'created', previous_hlc: expect.any(String) });
});

test('[SYN-6] base_sha "" brings a deleted path back on purpose', async () => {
  await laptop.push('back.txt', 'one');
  await laptop.result('sync_push', laptop.deleteOf('back.txt', { base_sha: sha256Of('one') }));
  expect(await phone.push('back.txt', 'one', { hlc: old, base_sha: '' })).toMatchObject({ status: 'created' });
});

test('[SYN-14] beyond ten pending conflicts of a path a push is refused and says that it was not kept', async () => {
  await laptop.push('full.txt', 'one');
  for (let n = 0; n < 10; n += 1) {
    const { data } = await laptop.other(`device-${n}`).refusedPush('full.txt', `mine ${n}`, { hlc: old });
    expect(data['conflict_id']).toEqual(expect.any(String));
  }
  const refused = await laptop.other('device-10').refusedPush('full.txt', 'mine 10', { hlc: old });
  expect(refused).toMatchObject({ code: -32006, data: { conflict_id: null } });
  expect(refused.message).toMatch(/not kept/);
});
