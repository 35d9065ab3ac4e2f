/** A damaged row that nobody's request reads, but a timer or the end of a commit: the hub goes on. An error there would end it. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { Refusal } from '../../src/common/fault.ts';
import { allTables } from '../../src/compose/tables.ts';
import { AccountEvents } from '../../src/events/account-events.ts';
import { webhooks as webhookRows } from '../../src/events/webhooks/records.ts';
import { WebhookSender } from '../../src/events/webhooks/sender.ts';
import { Webhooks } from '../../src/events/webhooks/service.ts';
import { Listeners } from '../../src/gateway/listening/listeners.ts';
import { Watched } from '../../src/gateway/listening/watched.ts';
import { Changes } from '../../src/live/changes.ts';
import { EventFeed } from '../../src/live/event-feed.ts';
import { bytesCodec } from '../../src/store/codec.ts';
import { UPGRADE } from '../../src/store/owners.ts';
import { createSealer } from '../../src/store/sealing/seal.ts';
import { Store } from '../../src/store/store.ts';
import { type AnyTable, defineUnsummedTable, type Key } from '../../src/store/table.ts';
import { SyncReader } from '../../src/sync/log/reader.ts';
import { vaultHeads, vaultOwners } from '../../src/sync/log/records.ts';
import { Packer } from '../../src/sync/packs/packer.ts';
import { VaultViews } from '../../src/sync/packs/vault-view.ts';
import { PATIENTLY } from '../support/receiver.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const log = pino({ level: 'silent' });
let store: Store;
let actors: ActorRegistry;
/** Tables of the damaged rows that were read. */
let read: string[];

beforeEach(() => {
  read = [];
  store = new Store({ folder: temporaryFolder(), tables: allTables, onDamaged: ({ table }) => void read.push(table) });
  actors = new ActorRegistry(store);
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

/** Writes a row whose checksum is wrong. */
const damage = ({ name, owners }: AnyTable, key: Key) =>
  store.write(UPGRADE, (batch) => batch.put(defineUnsummedTable(name, bytesCodec, owners), key, new Uint8Array(40)));

test('[OPS-23] a vault whose owner row is damaged is packed later, like those after it', async () => {
  const reader = new SyncReader(store);
  const views = new VaultViews(store, reader);
  const changes = new Changes(store, [vaultHeads]);
  const packer = new Packer({ store, actors, reader, views, changes, log });
  await damage(vaultOwners, ['v_1']);
  await damage(vaultOwners, ['v_2']);
  for (const vaultId of ['v_1', 'v_2']) await damage(vaultHeads, [vaultId]);
  await vi.waitFor(() => expect(read.filter((table) => table === 'sync_vault_owners')).toHaveLength(2), PATIENTLY);
  await packer.close();
});

test('[OPS-23] the line of a webhook whose row is damaged waits, and the others go on', async () => {
  const events = new AccountEvents({ store, epoch: 'one', hash: () => '0'.repeat(24) });
  const shared = { store, actors, events, reach: 'private', now: Date.now } as const;
  const webhooks = new Webhooks({ ...shared, sealer: createSealer(Buffer.alloc(32, 1)) });
  const sender = new WebhookSender({ ...shared, webhooks, isOpen: () => true, tell: () => undefined, log });
  await damage(webhookRows, ['a', 'w']);
  sender.start();
  // Once to send, and once to see whether it still exists.
  await vi.waitFor(() => expect(read).toEqual(['webhooks', 'webhooks']), PATIENTLY);
  await nextTurn();
  await sender.close();
  events.close();
});

test('[OPS-23] a stream of events ends when it cannot be told whether its reader may stay', async () => {
  for (const refuse of [refuseDamaged, () => Promise.resolve().then(refuseDamaged)]) {
    const feed = new EventFeed({ beatMs: 1, onBeat: refuse, beat: () => '' });
    await vi.waitFor(async () => expect(await feed.next()).toBeUndefined(), PATIENTLY);
  }
});

test('[OPS-23] a client that listens to what is damaged is told to ask again', async () => {
  const resource = { template: '', madeFrom: [], listedFrom: [], todayOf: refuseDamaged, mark: () => '' };
  const watched = new Watched({ resources: [resource as never], prompts: [], store, accountOfVault: () => undefined });
  const listeners = new Listeners(watched);
  const since = { revision: 0, day: undefined, mark: undefined };
  const subscription = { uri: '', kind: resource as never, variables: {}, since };
  const wish = { resources: false, prompts: false, watched: new Map([['', subscription]]) };
  let ended = 0;
  const onEnd = () => {
    ended += 1;
  };
  listeners.add({ caller: { accountId: 'a' }, wish, notify: () => undefined, onEnd });
  await vi.waitFor(() => expect([ended, listeners.count]).toEqual([1, 0]), PATIENTLY);
  await sleep(0);
});

function refuseDamaged(): never {
  throw new Refusal({ kind: 'damaged' });
}
