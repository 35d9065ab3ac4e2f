/** Data files of earlier versions counted what an account uses in one row; each vault counts its own. */
import { expect, test } from 'vitest';
import { allTables } from '../../../src/compose/tables.ts';
import { Store } from '../../../src/store/store.ts';
import { usage } from '../../../src/sync/log/records.ts';
import { forge, withoutSums } from '../../support/forge.ts';
import { runCairn, startHub } from '../../support/hub.ts';
import { clockAt, Device, newDevice } from '../../support/sync.ts';

const QUOTA_BYTES = 1000;
const env = { CAIRN_SYNC_QUOTA_BYTES: String(QUOTA_BYTES) };

test('[SYN-18, OPS-6] a file with one count for an account is read, and counts for each vault from the next start on', async () => {
  let hub = await startHub({ env });
  const { dataFolder: folder } = hub;
  const device = await newDevice(hub);
  const { vault_id } = await device.result<{ vault_id: string }>('vault_create', { name: 'second' });
  const first = await device.push('a', 'a'.repeat(500));
  await device.push('b', 'b'.repeat(300), { vault_id });
  // What a refused push brought counts as well.
  await device.refusedPush('a', 'c'.repeat(150), { hlc: clockAt(1000) });
  expect(await hub.stop()).toBe(0);

  const store = new Store({ folder, tables: allTables });
  expect(store.range(usage, { prefix: [] })).toEqual(
    expect.arrayContaining([
      { key: [first.vault_id], value: { bytes: 650 } },
      { key: [vault_id], value: { bytes: 300 } },
    ]),
  );
  const [account] = store.range(allTables.find(({ name }) => name === 'accounts') ?? usage, { prefix: [] });
  await forge(store, (batch) => {
    for (const [id] of batch.keys(usage)) batch.remove(usage, [id]);
    batch.put(usage, [account?.key[0]], { bytes: 950 });
  });
  await withoutSums(store, allTables, 2);
  await store.close();

  hub = await startHub({ dataFolder: folder, env });
  const after = new Device(hub, device.key);
  after.ms = device.ms;
  expect(await after.refusedPush('c', 'c'.repeat(51))).toMatchObject({ code: -32004, data: { used_bytes: 950 } });
  expect(await after.push('c', 'c'.repeat(50))).toMatchObject({ status: 'created' });
  expect(await after.refusedPush('d', 'd', { vault_id })).toMatchObject({ code: -32004 });
  expect(await hub.stop()).toBe(0);
  const counted = new Store({ folder, tables: allTables, readOnly: true });
  expect(counted.range(usage, { prefix: [] })).toEqual(
    expect.arrayContaining([
      { key: [first.vault_id], value: { bytes: 700 } },
      { key: [vault_id], value: { bytes: 300 } },
    ]),
  );
  expect([...counted.keys(usage)]).toHaveLength(2);
  await counted.close();
  const verified = await runCairn(['verify', '--json'], { CAIRN_DATA: folder });
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, problems: [] });
});
