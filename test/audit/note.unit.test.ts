/** How many security events an account keeps, which, and for how long: over a store, with the clock passed in. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { AuditLog } from '../../src/audit/log.ts';
import { auditSourceOf, noteAct, OPERATOR } from '../../src/audit/note.ts';
import { auditTables } from '../../src/audit/records.ts';
import { openLog } from '../../src/common/log.ts';
import { limits } from '../../src/limits/service.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let store: Store;
let actors: ActorRegistry;
let clock: { ms: number };
let audit: AuditLog;
const DAY_MS = 86_400_000;

beforeEach(() => {
  clock = { ms: Date.parse('2026-11-22T00:00:00Z') };
  store = new Store({ folder: temporaryFolder(), tables: auditTables });
  actors = new ActorRegistry(store);
  audit = new AuditLog({
    store,
    actors,
    log: openLog('silent').log,
    isAccount: (_reader, id) => id !== 'acc_gone',
    emailOf: () => undefined,
    now: () => clock.ms,
  });
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

const act = (accountId: string, detail: string) =>
  actors
    .account(accountId)
    .ask((batch) => noteAct(batch, accountId, { atMs: clock.ms, act: 'key_created', source: OPERATOR, detail }));

/** A failed sign-in, once it is on disk. */
async function fail(accountId: string, address: string): Promise<void> {
  audit.signInFailed(accountId, 'wrong password', auditSourceOf('stranger', address, undefined));
  await actors.account(accountId).ask(() => null);
}

const all = (accountId: string) => audit.list(accountId, 10_000);

test('[AUD-1] acts are bounded, and the newest stay; several of one decision are all kept', async () => {
  await Promise.all(Array.from({ length: limits.auditActsMax + 5 }, (_, number) => act('acc_1', `key ${number}`)));
  expect(all('acc_1').length).toBe(limits.auditActsMax);
  expect(all('acc_1')[0]?.detail).toBe(`key ${limits.auditActsMax + 4}`);
  await actors.account('acc_2').ask((batch) => {
    for (const detail of ['a', 'b', 'c']) {
      noteAct(batch, 'acc_2', { atMs: clock.ms, act: 'key_created', source: OPERATOR, detail });
    }
  });
  expect(all('acc_2').map(({ detail }) => detail)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
});

test('[AUD-1] who guesses passwords pushes out no act; equal failures in a row are one event with a count', async () => {
  await act('acc_1', 'mine');
  await Promise.all(
    Array.from({ length: limits.auditFailuresMax + 20 }, (_, number) => fail('acc_1', `192.0.2.${number % 250}`)),
  );
  expect(all('acc_1').filter(({ act: what }) => what === 'sign_in_failed').length).toBe(limits.auditFailuresMax);
  expect(all('acc_1').some(({ detail }) => detail === 'mine')).toBe(true);
  for (let number = 0; number < 7; number += 1) await fail('acc_2', '192.0.2.1');
  expect(all('acc_2')).toMatchObject([{ count: 7, address: '192.0.2.1', detail: 'wrong password' }]);
  expect(audit.failedSignIns.get('wrong password')).toBe(limits.auditFailuresMax + 27);
});

test('[AUD-1] an account that is gone gets no event', async () => {
  await fail('acc_gone', '192.0.2.1');
  expect(all('acc_gone')).toEqual([]);
});

test('[AUD-1] events older than 180 days are not shown, and the sweep removes them and no others', async () => {
  await act('acc_1', 'old');
  await fail('acc_2', '192.0.2.1');
  clock.ms += (limits.auditDays - 1) * DAY_MS;
  await act('acc_1', 'new');
  await act('acc_3', 'new');
  expect([all('acc_1').length, await audit.sweep()]).toEqual([2, 0]);
  clock.ms += 1.5 * DAY_MS;
  expect(all('acc_1').map(({ detail }) => detail)).toEqual(['new']);
  expect(await audit.sweep()).toBe(2);
  clock.ms -= 1.5 * DAY_MS;
  expect([all('acc_1').length, all('acc_2').length, all('acc_3').length]).toEqual([1, 0, 1]);
});

test('[AUD-1] what a program calls itself is cut and loses its control characters', () => {
  const { agent } = auditSourceOf('user', '192.0.2.1', `\u001b]0;owned\u0007\u202e${'x'.repeat(5000)}`);
  expect(agent).toMatch(/^\]0;ownedx+$/);
  expect(agent?.length).toBeLessThanOrEqual(limits.agentCharsMax);
});
