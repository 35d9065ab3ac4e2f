/** A webhook that fell behind what is kept: it is told how much it missed, and goes on with the oldest event that is kept. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noteChange } from '../../../src/activity/note.ts';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { allTables } from '../../../src/compose/tables.ts';
import { AccountEvents } from '../../../src/events/account-events.ts';
import { WebhookSender } from '../../../src/events/webhooks/sender.ts';
import { Webhooks } from '../../../src/events/webhooks/service.ts';
import { limits } from '../../../src/limits/service.ts';
import { createSealer } from '../../../src/store/sealing/seal.ts';
import { Store } from '../../../src/store/store.ts';
import { PATIENTLY, Receiver } from '../../support/receiver.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SOURCE = { by: 'client', address: null, agent: 'test' } as const;
const HUB_EPOCH = 'one';
let store: Store;
let actors: ActorRegistry;
let events: AccountEvents;
let webhooks: Webhooks;
let sender: WebhookSender;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await Receiver.open();
  store = new Store({ folder: temporaryFolder(), tables: allTables });
  actors = new ActorRegistry(store);
  const hash = (text: string) => Buffer.from(text).toString('hex').padEnd(24, '0');
  events = new AccountEvents({ store, epoch: HUB_EPOCH, hash });
  const shared = { store, actors, events, reach: 'private', now: Date.now } as const;
  webhooks = new Webhooks({ ...shared, sealer: createSealer(Buffer.alloc(32, 1)) });
  sender = new WebhookSender({
    ...shared,
    webhooks,
    isOpen: () => true,
    tell: () => undefined,
    log: pino({ level: 'silent' }),
  });
});

afterEach(async () => {
  await sender.close();
  events.close();
  receiver.close();
  await actors.drain();
  await store.close();
});

const note = (count: number) =>
  actors.account('a').ask((batch) => {
    for (let item = 1; item <= count; item += 1) {
      const one = { kind: 'tasks', item, act: 'created', name: `task ${item}`, before: {}, after: {} } as const;
      noteChange(batch, 'a', { ...one, by: undefined, atMs: item });
    }
  });

test('[EVENT-3] what is no longer kept is told first, under one id, then the oldest that is kept', async () => {
  receiver.status = 0;
  const { webhook, secret } = await webhooks.create('a', { url: receiver.url, kinds: null }, SOURCE);
  const files = await webhooks.create('a', { url: `${receiver.url}?files`, kinds: ['file'] }, SOURCE);
  receiver.secret = secret;
  for (let at = 0; at < limits.activityRowsMax; at += 1000) await note(1000);
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), PATIENTLY);
  await note(7);
  // Turned off and on again, as a person does, so that the next try is now.
  await webhooks.change('a', webhook.id, { enabled: false }, SOURCE);
  const failed = receiver.received.length;
  receiver.status = 200;
  // The next message does not get through: thousands of others would push the notice out of the deliveries that are kept.
  receiver.answers = 1;
  await webhooks.change('a', webhook.id, { enabled: true }, SOURCE);
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(failed + 1), PATIENTLY);
  const [missed, next] = receiver.received.slice(failed);
  expect([missed?.id, missed?.type, missed?.signed]).toEqual([`${webhook.id}.m.0`, 'events.missed', 1]);
  const { details } = (missed as unknown as { event: { details: Missed } }).event;
  const { changes, cursor, next: advice } = details;
  expect([changes, advice]).toEqual([7, expect.stringContaining('7 changes of tasks and documents')]);
  expect(next).toMatchObject({ type: 'task.created', event: { id: 'r.8' } });
  const again = events.page('a', events.positionOf('a', cursor), { limit: 1 });
  expect(again.events.map(({ id }) => id)).toEqual(['r.8']);
  await vi.waitFor(() => {
    const told = webhooks.get('a', webhook.id).deliveries.filter(({ kind }) => kind === 'events');
    expect(told).toMatchObject([{ act: 'missed', missed: 7, error: null }]);
  }, PATIENTLY);
  // It wants files only, of which none is gone.
  await vi.waitFor(() => expect(webhooks.get('a', files.webhook.id).position.records).toBeGreaterThan(6), PATIENTLY);
  expect(webhooks.get('a', files.webhook.id).deliveries).toEqual([]);
});

interface Missed {
  readonly changes: number;
  readonly cursor: string;
  readonly next: string;
}
