/** vault_rename and vault_delete from outside: what they ask for, and what is left. */
import { expect, test } from 'vitest';
import { type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';
import { openSyncDesk } from '../support.ts';

const hub = useHub({ verified: true });

interface Vault {
  readonly vault_id: string;
  readonly name: string;
}

const create = async (device: Device, name: string): Promise<string> =>
  (await device.result<Vault>('vault_create', { name })).vault_id;

const names = async (device: Device): Promise<string[]> =>
  (await device.result<{ vaults: Vault[] }>('vault_list', {})).vaults.map(({ name }) => name);

test('[SYN-18] a vault is renamed, and keeps its id and its files; a name that is taken is refused', async () => {
  const device = await newDevice(hub);
  const vault_id = await create(device, 'Notse');
  await create(device, 'work');
  await device.push('a.md', 'a', { vault_id });
  const renamed = await device.result('vault_rename', { vault_id, name: 'Notes' });
  expect(renamed).toEqual({ vault_id, name: 'Notes', former_name: 'Notse' });
  expect(await device.result('vault_rename', { vault_id, name: 'notes' })).toMatchObject({ name: 'notes' });
  expect(await names(device)).toEqual(['notes', 'work']);
  expect(await device.result('sync_list', { vault_id })).toMatchObject({ total_count: 1 });
  const taken = await device.refusal('vault_rename', { vault_id, name: 'WORK' });
  expect(taken).toMatchObject({ code: -32602, data: { field: 'name' } });
  const stranger = await newDevice(hub);
  expect(await stranger.refusal('vault_rename', { vault_id, name: 'mine' })).toMatchObject({
    data: { field: 'vault_id' },
  });
});

test('[SYN-18] a vault goes with all its versions once its exact name is said', async () => {
  const device = await newDevice(hub);
  const vault_id = await create(device, 'Old notes');
  const long = 'long '.repeat(40_000);
  await device.push('a.md', 'a', { vault_id });
  await device.push('long.md', long, { vault_id });
  await device.refusedPush('a.md', long.toUpperCase(), { vault_id, base_sha: '', device_id: 'phone' });
  for (const confirm of ['old notes', '', 'Old notes ']) {
    const refused = await device.refusal('vault_delete', { vault_id, confirm });
    expect(refused).toMatchObject({ code: -32602, data: { field: 'confirm' } });
    expect(refused.message).toContain('Old notes');
  }
  const stranger = await newDevice(hub);
  const foreign = await stranger.refusal('vault_delete', { vault_id, confirm: 'Old notes' });
  expect(foreign).toMatchObject({ data: { field: 'vault_id' } });
  const gone = await device.result('vault_delete', { vault_id, confirm: 'Old notes' });
  expect(gone).toMatchObject({ vault_id, name: 'Old notes', status: 'deleted', file_count: 2 });
  expect(await names(device)).toEqual([]);
  for (const [tool, args] of [
    ['sync_push', device.pushOf('b.md', 'b', { vault_id })],
    ['sync_list', { vault_id }],
    ['sync_pull', { vault_id, initial: true }],
    ['vault_delete', { vault_id, confirm: 'Old notes' }],
  ] as const) {
    expect(await device.refusal(tool, args)).toMatchObject({ code: -32602, data: { field: 'vault_id' } });
  }
  // The name is free again, for another vault.
  expect(await create(device, 'Old notes')).not.toBe(vault_id);
});

test('[SYN-18] the primary vault can be deleted; the next push without a vault makes another', async () => {
  const device = await newDevice(hub);
  const first = await device.push('a.md', 'a');
  await device.result('vault_delete', { vault_id: first.vault_id, confirm: 'primary' });
  const second = await device.push('a.md', 'a');
  expect(second).toMatchObject({ status: 'created', seq: 1 });
  expect(second.vault_id).not.toBe(first.vault_id);
});

test('[SYN-18, SYN-21] pushes that race a deletion are in it or refused, and the quota counts none of it', async () => {
  const device = await newDevice(hub);
  const vault_id = await create(device, 'racing');
  const pushes = Array.from({ length: 40 }, (_, index) =>
    device.call('sync_push', device.pushOf(`${index}.md`, `${index}`, { vault_id })),
  );
  const deletion = device.result<{ file_count: number }>('vault_delete', { vault_id, confirm: 'racing' });
  const taken = (await Promise.all(pushes)).filter(({ result }) => result !== undefined);
  expect((await deletion).file_count).toBe(taken.length);
});

test('[SYN-18] all rows of a deleted vault go in the background, over several rounds of many versions', async () => {
  const desk = await openSyncDesk(Date.UTC(2026, 10, 20));
  const { vaults, push, removal } = desk.sync;
  const kept = await vaults.create('a', 'kept', undefined);
  const doomed = await vaults.create('a', 'doomed', undefined);
  const long = 'x'.repeat(100_000);
  for (let at = 0; at < 450; at += 1) {
    const content = at % 50 === 0 ? `${at}${long}` : `${at}`;
    await push.push('a', desk.push(`f${at % 7}`, content, { vault_id: doomed.id, base_sha: at < 7 ? '' : undefined }));
    desk.clock.ms += 1000;
  }
  await push.push('a', desk.push('stays', long, { vault_id: kept.id }));
  await desk.sync.reading.packer.packAll(doomed.id);
  await vaults.delete('a', doomed.id, 'doomed');
  expect(desk.problems()).toEqual([]);
  expect(await removal.run()).toBeGreaterThan(450);
  expect(await removal.run()).toBe(0);
  expect(desk.rowsOf(doomed.id)).toEqual([]);
  expect(desk.problems()).toEqual([]);
  expect(vaults.list('a').map(({ record, head }) => [record.name, head.bytes])).toEqual([['kept', long.length]]);
  expect(sha256Of(long)).toBe(desk.sync.reader.file(kept.id, 'stays')?.sha256);
  await desk.close();
});
