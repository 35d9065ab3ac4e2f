/** Positions of devices: what a list shows while they are being written. */
import { afterAll, expect, test } from 'vitest';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { openLog } from '../../../src/common/log.ts';
import { Store } from '../../../src/store/store.ts';
import { devices } from '../../../src/sync/log/records.ts';
import { PullVisits } from '../../../src/sync/vaults/pull-visits.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const VAULT = 'vlt_000000000000000000000000';
const store = new Store({ folder: temporaryFolder(), tables: [devices], mapBytes: 2 ** 26 });
const actors = new ActorRegistry(store);
const visits = new PullVisits({ store, actors, log: openLog('silent').log, now: () => 1000 });
const position = () => visits.list(VAULT).get('desk')?.pulled_seq;

afterAll(async () => {
  await actors.drain();
  await store.close();
});

test('[SYN-18] the position of a device never goes back, also while it is written', async () => {
  visits.pulled(VAULT, 'desk', 1400);
  expect(position()).toBe(1400);
  const written = visits.close();
  expect(position()).toBe(1400);
  // A pull during the write is not lost with it.
  visits.pulled(VAULT, 'desk', 1500);
  await written;
  expect([position(), store.get(devices, [VAULT, 'desk'])?.pulled_seq]).toEqual([1500, 1400]);
  await visits.close();
  expect([position(), store.get(devices, [VAULT, 'desk'])?.pulled_seq]).toEqual([1500, 1500]);
});
