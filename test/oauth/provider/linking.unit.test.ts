/** Linking an identity by a token of it, and what cairn verify says of damaged rows of signing in. */

import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accessTokens, tokenExpiries } from '../../../src/accounts/records.ts';
import { Accounts } from '../../../src/accounts/service.ts';
import { Standings } from '../../../src/accounts/standing/standings.ts';
import { AccessTokens } from '../../../src/accounts/tokens.ts';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { OPERATOR } from '../../../src/audit/note.ts';
import { Refusal } from '../../../src/common/fault.ts';
import { openLog } from '../../../src/common/log.ts';
import { allTables } from '../../../src/compose/tables.ts';
import { checkIntegrity } from '../../../src/compose/verify.ts';
import { limits } from '../../../src/limits/service.ts';
import { DeviceGrants } from '../../../src/oauth/device-grants.ts';
import { Identities } from '../../../src/oauth/provider/identities.ts';
import { IdentityProvider } from '../../../src/oauth/provider/identity-provider.ts';
import { ProviderKeys } from '../../../src/oauth/provider/keys.ts';
import {
  accountIdentities,
  accountSignIns,
  deviceExpiries,
  deviceGrants,
  deviceUserCodes,
  identities as identityTable,
  oauthClientExpiries,
  oauthClients,
  signIns as signInTable,
} from '../../../src/oauth/records.ts';
import { SignIns } from '../../../src/oauth/sign-ins.ts';
import { checkMasterKey } from '../../../src/store/sealing/key-check.ts';
import { createSealer } from '../../../src/store/sealing/seal.ts';
import { Store } from '../../../src/store/store.ts';
import type { AnyTable, Key } from '../../../src/store/table.ts';
import { forge } from '../../support/forge.ts';
import { AUDIENCE, Issuer } from '../../support/issuer.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const sealer = createSealer(randomBytes(32));

let issuer: Issuer;
let clock: { ms: number };
let store: Store;
let actors: ActorRegistry;
let accounts: Accounts;
let identities: Identities;
let first: string;
let second: string;

const base = () => ({ store, actors, sealer, log: openLog('silent').log, now: () => clock.ms });

beforeEach(async () => {
  issuer = await Issuer.start();
  clock = { ms: Date.now() };
  store = new Store({ folder: temporaryFolder(), tables: allTables });
  await checkMasterKey(store, sealer);
  actors = new ActorRegistry(store);
  const standings = new Standings({ ...base(), release: () => undefined });
  accounts = new Accounts({ ...base(), standings });
  const keys = new ProviderKeys({ ...base(), issuer: issuer.url });
  const provider = new IdentityProvider({ ...base(), issuer: issuer.url, audience: AUDIENCE, keys });
  identities = new Identities({ ...base(), provider });
  first = (await accounts.create({ email: 'first@example.org' }, OPERATOR)).account_id;
  second = (await accounts.create({ email: 'second@example.org' }, OPERATOR)).account_id;
});

afterEach(async () => {
  await actors.drain();
  await store.close();
  await issuer.close();
});

/** The sentence of a refusal. */
async function refusal(run: () => Promise<unknown>): Promise<string> {
  const error: unknown = await run().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Refusal ? error.message : 'none';
}

test('[OAUTH-3] a token that is valid now links its subject, once, and says what the provider calls it', async () => {
  const token = await issuer.token('user', { claims: { email: 'user@example.org' } });
  const linked = await identities.link(first, ` ${token}\n`, OPERATOR);
  expect(linked).toEqual({
    identity_id: expect.stringMatching(/^idn_[0-9a-f]{24}$/),
    issuer: issuer.url,
    subject: 'user',
    label: 'user@example.org',
    linked_at: new Date(clock.ms).toISOString(),
  });
  clock.ms += 1000;
  expect(await identities.link(first, await issuer.token('user'), OPERATOR)).toEqual(linked);
  expect(identities.list(first)).toEqual([linked]);
  expect(await identities.authenticate(token)).toEqual({ accountId: first, credentialId: linked.identity_id });
  expect(await refusal(() => identities.link(second, token, OPERATOR))).toContain('linked to another account');
  expect(await refusal(() => identities.unlink(second, linked.identity_id, OPERATOR))).toContain('no linked identity');
  await identities.unlink(first, linked.identity_id, OPERATOR);
  expect(identities.list(first)).toEqual([]);
  expect(await refusal(async () => await identities.authenticate(token))).toContain('linked to no account');
  expect((await identities.link(second, token, OPERATOR)).subject).toBe('user');
  expect(checkIntegrity(store, sealer)).toMatchObject({ ok: true, identities: 1 });
});

test('[OAUTH-3] a token that was checked before opens at once, until it expires, is unlinked or its key is withdrawn', async () => {
  const lasting = (seconds: number) => issuer.token('user', { claims: { exp: Math.floor(clock.ms / 1000) + seconds } });
  const [long, short] = [await lasting(7200), await lasting(300)];
  const { identity_id: id } = await identities.linkSubject(first, 'user', OPERATOR);
  const session = { accountId: first, credentialId: id };
  for (const token of [long, short]) {
    expect(identities.authenticate(token)).toBeInstanceOf(Promise);
    expect(await identities.authenticate(token)).toEqual(session);
    expect(identities.authenticate(token)).toEqual(session);
    expect(await identities.authenticate(`${token.slice(0, -4)}AAAA`)).toBeUndefined();
  }
  // Tokens are dated by the real clock, which has gone on since this one was set.
  clock.ms += (300 + limits.idpClockSkewSeconds + 120) * 1000;
  expect([identities.authenticate(long), await identities.authenticate(short)]).toEqual([session, undefined]);
  await identities.unlink(first, id, OPERATOR);
  expect(() => identities.authenticate(long)).toThrow('linked to no account');
  await identities.linkSubject(second, 'user', OPERATOR);
  expect(identities.authenticate(long)).toEqual({ accountId: second, credentialId: id });
  await issuer.rotate();
  clock.ms += limits.idpKeysFreshMs;
  expect(await identities.authenticate(long)).toBeUndefined();
});

test('[OAUTH-3, LIM-1] a token that is not valid links nothing, and five of them are enough for a while', async () => {
  const wrong = [
    'no token',
    '',
    await issuer.token('user', { claims: { exp: Math.floor(clock.ms / 1000) - 60 } }),
    await issuer.token('user', { claims: { aud: 'another' } }),
    `${await issuer.token('user')}x`,
  ];
  for (const token of wrong)
    expect(await refusal(() => identities.link(first, token, OPERATOR))).toContain('not a valid token');
  const right = await issuer.token('user');
  expect(await refusal(() => identities.link(first, right, OPERATOR))).toMatch(/try again in \d+ s/);
  expect((await identities.link(second, right, OPERATOR)).subject).toBe('user');
  clock.ms += limits.userCodeTriesMs;
  expect(await refusal(() => identities.link(first, right, OPERATOR))).toContain('not a valid token');
});

test('[OAUTH-3] an account holds ten identities; a label that could mislead is left out', async () => {
  for (let made = 0; made < limits.identitiesMax; made += 1)
    await identities.linkSubject(first, `user ${made}`, OPERATOR);
  expect(await refusal(() => identities.linkSubject(first, 'one more', OPERATOR))).toContain('unlink one first');
  for (const subject of ['', 'x'.repeat(256), 'ümläut', 'two\nlines']) {
    expect(await refusal(() => identities.linkSubject(second, subject, OPERATOR))).toContain('ASCII');
  }
  const misleading = await issuer.token('user', { claims: { email: 'a\u202Eb', name: 'Zoë' } });
  expect((await identities.link(second, misleading, OPERATOR)).label).toBe('Zoë');
});

test('[OPS-6, OAUTH-1, OAUTH-3] verify sees a row of signing in that is missing, in each of its tables', async () => {
  const tokens = new AccessTokens(base());
  const signIns = new SignIns({
    ...base(),
    epoch: 'one',
    account: {
      isOpen: () => true,
      mintToken: (batch, accountId, id) => tokens.add(batch, accountId, id),
      endTokens: (batch, accountId, id) => tokens.endSignIn(batch, accountId, id),
      addKey: (batch, accountId, name, source) => accounts.addKey(batch, accountId, name, source),
      endKey: (batch, accountId, keyId, source) => void accounts.endKey(batch, accountId, keyId, source),
      checkKeyRoom: (reader, accountId) => accounts.checkKeyRoom(reader, accountId),
    },
  });
  const devices = new DeviceGrants({ ...base(), signIns });
  const device = { client_id: 'cli', device_name: null, scope: 'mcp' };
  const codes = await devices.start(device, '192.0.2.1');
  await devices.approve(codes.user_code, first);
  await devices.redeem(codes.device_code, 'cli');
  await devices.approve((await devices.start(device, '192.0.2.1')).user_code, second);
  await identities.linkSubject(first, 'user', OPERATOR);
  const client = { client_name: null, redirect_uris: ['http://127.0.0.1/callback'], registered_ms: 0, expires_ms: 1 };
  await forge(store, (batch) => {
    batch.put(oauthClients, ['ccl_0'], client);
    batch.put(oauthClientExpiries, [1, 'ccl_0'], {});
  });
  expect(checkIntegrity(store, sealer)).toMatchObject({ ok: true, sign_ins: 1, device_grants: 1, identities: 1 });
  const tables: readonly AnyTable[] = [
    deviceGrants,
    deviceUserCodes,
    deviceExpiries,
    signInTable,
    accountSignIns,
    identityTable,
    accountIdentities,
    oauthClients,
    oauthClientExpiries,
    accessTokens,
    tokenExpiries,
  ];
  for (const table of tables) {
    const [entry] = store.range(table, { prefix: [] });
    if (entry === undefined) throw new Error(`${table.name} is empty`);
    await forge(store, (batch) => batch.remove(table, entry.key as Key));
    const { ok, problems } = checkIntegrity(store, sealer);
    expect([table.name, ok, problems.length]).toEqual([table.name, false, expect.any(Number)]);
    await forge(store, (batch) => batch.put(table, entry.key as Key, entry.value));
    expect(checkIntegrity(store, sealer).ok).toBe(true);
  }
});
