/** For how long after a password was given it is not asked for again, with the clock passed in. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accountTables } from '../../../src/accounts/records.ts';
import { BrowserSessions } from '../../../src/accounts/sessions.ts';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { auditSourceOf } from '../../../src/audit/note.ts';
import { auditTables } from '../../../src/audit/records.ts';
import { openLog } from '../../../src/common/log.ts';
import { limits } from '../../../src/limits/service.ts';
import { createSealer } from '../../../src/store/sealing/seal.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let store: Store;
let actors: ActorRegistry;

beforeEach(() => {
  store = new Store({ folder: temporaryFolder(), tables: [...accountTables, ...auditTables] });
  actors = new ActorRegistry(store);
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

test('[AUTH-2] a session is fresh for 15 minutes after sign-in, and again after the password was given', async () => {
  let nowMs = 1_000_000;
  const { log } = openLog('silent');
  const sessions = new BrowserSessions({
    store,
    actors,
    log,
    sealer: createSealer(new Uint8Array(32)),
    now: () => nowMs,
  });
  const source = auditSourceOf('user', '192.0.2.1', undefined);
  const id = await sessions.start('acc_1', source);
  const other = await sessions.start('acc_1', source);
  nowMs += limits.freshSignInMs - 1;
  expect(sessions.isFresh(id)).toBe(true);
  nowMs += 1;
  expect(sessions.isFresh(id)).toBe(false);
  await sessions.confirm(id, source);
  expect([sessions.isFresh(id), sessions.isFresh(other), sessions.isFresh('x'.repeat(43))]).toEqual([
    true,
    false,
    false,
  ]);
});
