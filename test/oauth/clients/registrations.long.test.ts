/** Who keeps a registration when there is no room for another. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { allTables } from '../../../src/compose/tables.ts';
import { limits } from '../../../src/limits/service.ts';
import { OAuthClients } from '../../../src/oauth/clients/clients.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CALLER = { accountId: 'acc_other', address: '192.0.2.1' };

let store: Store;
let actors: ActorRegistry;
let clients: OAuthClients;
let nowMs = Date.parse('2026-11-20T12:00:00Z');

beforeEach(() => {
  store = new Store({ folder: temporaryFolder(), tables: allTables });
  actors = new ActorRegistry(store);
  clients = new OAuthClients({ store, actors, documents: 'off', now: () => nowMs });
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

/** Registers clients, one after another in time, and authorizes them. */
async function authorized(accountId: string, count: number): Promise<string[]> {
  const made = Array.from({ length: count }, async () => {
    nowMs += 1000;
    const { client_id: id } = await clients.register({ redirect_uris: ['https://app.example/callback'] });
    await clients.noteUsed(id, accountId);
    return id;
  });
  return await Promise.all(made);
}

test('[OAUTH-4, NET-11] an account that authorized all registrations keeps nobody from registering', async () => {
  const greedy = await authorized('acc_greedy', limits.clientRegistrationsMax);
  const [own = ''] = await authorized('acc_other', 1);
  await authorized('acc_greedy', 50);
  expect((await clients.find(own, CALLER)).client_id).toBe(own);
  const kept = await Promise.allSettled(greedy.map((id) => clients.find(id, CALLER)));
  expect(kept.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
});
