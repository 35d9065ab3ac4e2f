/** Access tokens: their shape, what they open and what not, how long, and what is kept of them. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountTables } from '../../src/accounts/records.ts';
import { AccessTokens } from '../../src/accounts/tokens.ts';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { OPERATOR } from '../../src/audit/note.ts';
import { auditTables } from '../../src/audit/records.ts';
import { createSealer } from '../../src/store/sealing/seal.ts';
import { Store } from '../../src/store/store.ts';
import { accessToken, mirrorTool, post, replyOf, toolRequest } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let hub: Hub;
let owner: Account;
let token: string;

beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
  token = await accessToken(hub, owner.email);
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

const bearer = (value: string) => ({ Authorization: `Bearer ${value}` });
const tasksWith = async (value: string, to = hub) => (await call(to, '/api/tasks', { headers: bearer(value) })).status;

test('[KEY-6] a token is cat_, 43 base64url characters and a checksum of what is before it', () => {
  expect(token).toMatch(/^cat_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$/);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(token.slice(0, -6)));
  expect(token.slice(-6)).toBe(checksum.toString('base64url'));
});

test('[KEY-6] cairn token create tells how long the token lives, and makes another each time', async () => {
  const made = await hub.cli('token', 'create', '--email', owner.email.toUpperCase(), '--json');
  expect(made.code).toBe(0);
  const shown = JSON.parse(made.stdout) as { access_token: string };
  expect(shown).toEqual({ access_token: expect.stringMatching(/^cat_/), token_type: 'Bearer', expires_in: 3600 });
  expect(shown.access_token).not.toBe(token);
  expect([await tasksWith(shown.access_token), await tasksWith(token)]).toEqual([200, 200]);
  const plain = await hub.cli('token', 'create', '--email', owner.email);
  expect([plain.code, plain.stdout]).toEqual([0, expect.stringMatching(/cat_[A-Za-z0-9_-]{49}\s[\s\S]*3600 s/)]);
});

test('[KEY-6] cairn token create refuses an unknown email and a call without one', async () => {
  for (const args of [['--email', 'nobody@example.org'], []]) {
    const refused = await hub.cli('token', 'create', ...args);
    expect([refused.code === 0, refused.stdout]).toEqual([false, '']);
    expect(refused.stderr).not.toBe('');
  }
});

test('[KEY-3, KEY-2] a token opens REST, the gateway and the tool mirror, on the account’s own data', async () => {
  const headers = { ...bearer(token), 'Content-Type': 'application/json' };
  const made = await call(hub, '/api/tasks', { method: 'POST', headers, body: '{"content":"by token"}' });
  expect(made.status).toBe(201);
  expect((await call(hub, '/api/categories', { headers })).status).toBe(200);
  const called = await post(hub, toolRequest(1, 'list_tasks'), bearer(token));
  expect(replyOf(called).result).toMatchObject({ structuredContent: { count: 1, tasks: [{ content: 'by token' }] } });
  const mirrored = await mirrorTool(hub, 'list_tasks', {}, bearer(token));
  expect([mirrored.status, mirrored.json()]).toMatchObject([200, { count: 1 }]);
});

test('[KEY-2, KEY-3] a token opens neither the mirror nor its credential, in any scheme', async () => {
  for (const Authorization of [`Bearer ${token}`, `McpKey ${token}`]) {
    const headers = { Authorization, 'Content-Type': 'application/json' };
    const issued = await call(hub, '/api/cert_mirror/credentials', { method: 'POST', headers, body: '{}' });
    const listed = await call(hub, '/api/cert_mirror', { headers });
    const destroyed = await call(hub, '/api/cert_mirror/credentials', { method: 'DELETE', headers });
    expect([issued.status, listed.status, destroyed.status]).toEqual([401, 401, 401]);
  }
});

test('[KEY-3] McpKey with a token and Bearer with a key are 401', async () => {
  for (const Authorization of [`McpKey ${token}`, `Bearer ${owner.mcp_key}`, `Bearer ${owner.account_key}`]) {
    expect((await post(hub, toolRequest(1, 'list_tasks'), { Authorization })).status).toBe(401);
    expect((await mirrorTool(hub, 'list_tasks', {}, { Authorization })).status).toBe(401);
  }
});

/** The token with one character changed. */
const slip = (at: number) => token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);

test('[KEY-6, KEY-4] a token with any character changed, cut, longer or made up opens nothing', async () => {
  const random = `cat_${randomBytes(32).toString('base64url')}`;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(random));
  const wrong = [
    ...Array.from({ length: token.length }, (_, at) => slip(at)),
    token.slice(0, -1),
    `${token}A`,
    token.toUpperCase(),
    token.slice(4),
    random + checksum.toString('base64url'),
  ];
  for (const value of wrong) expect([value, await tasksWith(value)]).toEqual([value, 401]);
  const answer = await call(hub, '/api/tasks', { headers: bearer(slip(20)) });
  expect([answer.headers['www-authenticate'], answer.json()]).toEqual([
    expect.stringMatching(/^Bearer/),
    { error: expect.any(String) },
  ]);
});

test('[KEY-6, KEY-5, OPS-4] a token outlives a restart, and only its hash is kept', async () => {
  const dataFolder = temporaryFolder();
  const first = await startHub({ dataFolder });
  const { email } = await account(first);
  const kept = await accessToken(first, email);
  expect(await tasksWith(kept, first)).toBe(200);
  await first.stop();
  const second = await startHub({ dataFolder });
  expect(await tasksWith(kept, second)).toBe(200);
  await second.stop();
  const files = readdirSync(dataFolder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const places = [
    JSON.stringify([first.logs, second.logs]),
    ...files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
  ];
  expect(places.some((place) => place.includes('access_tokens'))).toBe(true);
  const random = Buffer.from(kept.slice(4, 47), 'base64url').toString('latin1');
  for (const secret of [kept, kept.slice(4, 47), random]) {
    expect(places.filter((place) => place.includes(secret))).toEqual([]);
  }
});

test('[KEY-6, KEY-4] a token lives one hour, and an expired one is forgotten when the next is made', async () => {
  const store = new Store({ folder: temporaryFolder(), tables: [...accountTables, ...auditTables] });
  const actors = new ActorRegistry(store);
  const clock = { ms: Date.parse('2026-11-20T12:00:00Z') };
  const tokens = new AccessTokens({ store, actors, sealer: createSealer(randomBytes(32)), now: () => clock.ms });
  try {
    const { access_token: first } = await tokens.mint('acc_1', OPERATOR);
    clock.ms += 3600 * 1000 - 1;
    expect(tokens.authenticate(first)).toMatchObject({ accountId: 'acc_1' });
    clock.ms += 1;
    expect(tokens.authenticate(first)).toBeUndefined();
    const { access_token: second } = await tokens.mint('acc_1', OPERATOR);
    clock.ms -= 2000;
    expect(tokens.authenticate(first)).toBeUndefined();
    expect(tokens.authenticate(second)).toMatchObject({ accountId: 'acc_1' });
  } finally {
    await actors.drain();
    await store.close();
  }
});
