/** Issue, rotate and destroy a mirror credential, and what of it can be found in the data file. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSealer } from '../../src/store/sealing/seal.ts';
import { type Answer, call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import {
  type Account,
  account,
  type Credential,
  credential,
  download,
  get,
  mirrorAccount,
  randomCommit,
  upload,
} from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HEX_64 = /^[0-9a-f]{64}$/;
const PATH = '/api/cert_mirror/credentials';

let hub: Hub;
/** An account whose credential the tests that use it leave as it is. */
let settled: Account & Credential;
beforeAll(async () => {
  hub = await startHub();
  settled = await mirrorAccount(hub);
});
afterAll(() => hub.stop());

function issue(key: string, body?: string): Promise<Answer> {
  const headers = { Authorization: `McpKey ${key}`, ...(body === undefined ? {} : jsonType) };
  return call(hub, PATH, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
}

const jsonType = { 'Content-Type': 'application/json' };

function destroy(key: string): Promise<Answer> {
  return call(hub, PATH, { method: 'DELETE', headers: { Authorization: `McpKey ${key}` } });
}

test('[MIR-1] a first issue creates a token and a secret of 64 hex characters', async () => {
  const { mcp_key } = await account(hub);
  const answer = await issue(mcp_key, '{}');
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['cache-control']).toBe('no-store');
  const { status, token, hmac_secret, message, ...rest } = answer.json();
  expect({ status, rest }).toEqual({ status: 'created', rest: {} });
  expect(token).toMatch(HEX_64);
  expect(hmac_secret).toMatch(HEX_64);
  expect(token).not.toBe(hmac_secret);
  expect(message).toEqual(expect.stringMatching(/\w+ \w+/));
});

test('[MIR-1] the account key and the MCP key issue the same one credential', async () => {
  const { mcp_key, account_key } = await account(hub);
  const created = (await issue(account_key, '{}')).json();
  const existing = (await issue(mcp_key, '{}')).json();
  expect(created['status']).toBe('created');
  expect(existing).toMatchObject({ status: 'existing', token: created['token'], hmac_secret: null });
});

test('[MIR-1] credentials of two accounts share nothing', async () => {
  const [one, other] = [await mirrorAccount(hub), await mirrorAccount(hub)];
  expect(new Set([one.token, other.token, one.hmac_secret, other.hmac_secret]).size).toBe(4);
});

test('[MIR-1, MIR-2] of many first issues at once one creates, and all give its token', async () => {
  const { mcp_key } = await account(hub);
  const answers = await Promise.all(Array.from({ length: 12 }, () => issue(mcp_key, '{}')));
  const bodies = answers.map((answer) => answer.json());
  expect(bodies.filter((body) => body['status'] === 'created')).toHaveLength(1);
  expect(bodies.filter((body) => body['hmac_secret'] !== null)).toHaveLength(1);
  expect(new Set(bodies.map((body) => body['token'])).size).toBe(1);
  const token = String(bodies[0]?.['token']);
  expect((await get(hub, { token }, '')).status).toBe(200);
});

test.each([['{}'], ['{"rotate":false}'], [''], [undefined], ['{"note":1}']])(
  '[MIR-2, MIR-4] the body %j gives the existing token and no secret',
  async (body) => {
    const answer = await issue(settled.mcp_key, body);
    expect(answer.status).toBe(200);
    const { message, ...rest } = answer.json();
    expect(rest).toEqual({ status: 'existing', token: settled.token, hmac_secret: null });
    expect(message).toEqual(expect.stringMatching(/\w+ \w+/));
  },
);

test.each([['{}'], [''], [undefined], ['{"rotate":true}'], ['{"rotate":false}']])(
  '[MIR-4] the body %j creates a credential where none exists',
  async (body) => {
    const answer = await issue((await account(hub)).mcp_key, body);
    expect({ status: answer.status, body: answer.json() }).toMatchObject({
      status: 200,
      body: { status: 'created', token: expect.stringMatching(HEX_64), hmac_secret: expect.stringMatching(HEX_64) },
    });
  },
);

test('[MIR-3] rotate gives a new pair, and the old token is 401 at once', async () => {
  const old = await mirrorAccount(hub);
  const answer = await issue(old.mcp_key, '{"rotate":true}');
  const { status, token, hmac_secret } = answer.json();
  expect({ code: answer.status, status }).toEqual({ code: 200, status: 'created' });
  expect(token).toMatch(HEX_64);
  expect(hmac_secret).toMatch(HEX_64);
  expect(new Set([token, hmac_secret, old.token, old.hmac_secret]).size).toBe(4);
  const bytes = Buffer.from('after the rotation');
  const refused = [
    await get(hub, old, ''),
    await get(hub, old, '/latest'),
    await download(hub, old, randomCommit()),
    await upload(hub, old, randomCommit(), bytes),
  ];
  expect(refused.map((one) => one.status)).toEqual([401, 401, 401, 401]);
  for (const one of refused) expect(one.headers['www-authenticate']).toMatch(/^McpKey/);
  const fresh = { token: String(token), hmac_secret: String(hmac_secret) };
  expect((await upload(hub, fresh, randomCommit(), bytes)).status).toBe(200);
});

test('[MIR-3] of many rotations at once one pair is left, and it works', async () => {
  const { mcp_key } = await mirrorAccount(hub);
  const pairs = await Promise.all(Array.from({ length: 8 }, () => credential(hub, mcp_key, true)));
  expect(new Set(pairs.map((pair) => pair.token)).size).toBe(8);
  const { token } = (await issue(mcp_key, '{}')).json();
  const statuses = await Promise.all(pairs.map(async (pair) => (await get(hub, pair, '')).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  const winner = pairs.find((pair) => pair.token === token);
  expect(winner).toBeDefined();
  if (winner !== undefined) {
    expect((await upload(hub, winner, randomCommit(), Buffer.from('by the winner'))).status).toBe(200);
  }
});

test.each([['"true"'], ['1'], ['0'], ['null'], ['[]'], ['{}'], ['""']])(
  '[MIR-4] rotate %s is 422 and rotates nothing',
  async (rotate) => {
    const answer = await issue(settled.mcp_key, `{"rotate":${rotate}}`);
    expect(answer.status).toBe(422);
    expect(answer.json()).toMatchObject({
      error: expect.stringContaining('rotate'),
      errors: { rotate: [expect.stringContaining('rotate')] },
    });
    expect((await get(hub, settled, '')).status).toBe(200);
  },
);

test.each([['[]'], ['"rotate"'], ['5'], ['true'], ['null'], ['[{"rotate":true}]']])(
  '[MIR-4] the body %s is 422, because it is not an object',
  async (body) => {
    expect((await issue(settled.mcp_key, body)).status).toBe(422);
    expect((await get(hub, settled, '')).status).toBe(200);
  },
);

test('[MIR-5] DELETE destroys the credential, and a second DELETE finds none', async () => {
  const who = await mirrorAccount(hub);
  const deleted = await destroy(who.mcp_key);
  expect(deleted.status).toBe(200);
  const { status, message, ...rest } = deleted.json();
  expect({ status, rest }).toEqual({ status: 'deleted', rest: {} });
  expect(message).toEqual(expect.stringMatching(/\w+ \w+/));
  expect((await get(hub, who, '')).status).toBe(401);
  const again = await destroy(who.mcp_key);
  expect({ status: again.status, body: again.json() }).toEqual({ status: 404, body: { error: 'no credential' } });
});

test('[MIR-5] DELETE on an account that never had one is 404, and harms no other account', async () => {
  const bystander = await mirrorAccount(hub);
  const answer = await destroy((await account(hub)).account_key);
  expect({ status: answer.status, body: answer.json() }).toEqual({ status: 404, body: { error: 'no credential' } });
  expect((await get(hub, bystander, '')).status).toBe(200);
});

test('[MIR-5] an issue after a DELETE creates a new pair', async () => {
  const who = await mirrorAccount(hub);
  await destroy(who.mcp_key);
  const answer = (await issue(who.mcp_key, '{}')).json();
  expect(answer).toMatchObject({ status: 'created', hmac_secret: expect.stringMatching(HEX_64) });
  expect(answer['token']).not.toBe(who.token);
  expect((await get(hub, who, '')).status).toBe(401);
});

test('[KEY-2] a mirror token neither issues nor destroys, and an account key opens no mirror', async () => {
  const who = await mirrorAccount(hub);
  expect((await issue(who.token, '{"rotate":true}')).status).toBe(401);
  expect((await destroy(who.token)).status).toBe(401);
  for (const token of [who.mcp_key, who.account_key, who.hmac_secret]) {
    expect((await get(hub, { token }, '')).status).toBe(401);
  }
  expect((await get(hub, who, '')).status).toBe(200);
});

test('[MIR-6] the data folder of a stopped hub shows neither token nor secret nor key', async () => {
  const folder = temporaryFolder();
  const own = await startHub({ dataFolder: folder });
  const who = await mirrorAccount(own);
  const known = Buffer.from('bytes that the search must be able to find');
  expect((await upload(own, who, randomCommit(), known)).status).toBe(200);
  const rotated = await credential(own, who.mcp_key, true);
  expect(await own.stop()).toBe(0);

  const files = readdirSync(folder).filter((name) => name !== 'master.key');
  const stored = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
  expect(stored.includes(known)).toBe(true);
  const secrets = [who.token, who.hmac_secret, rotated.token, rotated.hmac_secret, who.mcp_key];
  for (const secret of secrets) {
    expect(stored.includes(secret)).toBe(false);
    expect(stored.includes(secret.toUpperCase())).toBe(false);
    expect(stored.includes(Buffer.from(secret, 'hex'))).toBe(false);
    expect(stored.includes(Buffer.from(secret, 'hex').toString('base64url').slice(0, 40))).toBe(false);
  }
  expect(stored.includes(who.account_key)).toBe(false);
  expect(stored.includes(readFileSync(join(folder, 'master.key'), 'utf8').trim())).toBe(false);
});

test('[MIR-6] a restart gives the same token again and takes uploads under the same secret', async () => {
  const folder = temporaryFolder();
  const before = await startHub({ dataFolder: folder });
  const who = await mirrorAccount(before);
  await before.stop();
  const after = await startHub({ dataFolder: folder });
  try {
    expect(await credential(after, who.mcp_key)).toMatchObject({ token: who.token, hmac_secret: null });
    expect((await upload(after, who, randomCommit(), Buffer.from('signed before'))).status).toBe(200);
  } finally {
    await after.stop();
  }
});

test('[MIR-6] equal tokens seal alike and equal secrets do not; both open for their owner and field alone', () => {
  const sealer = createSealer(Buffer.alloc(32, 7));
  const plain = Buffer.alloc(32, 1);
  const token = sealer.sealDeterministic('acc_1', 'token', plain);
  const secret = sealer.sealRandom('acc_1', 'secret', plain);
  expect(Buffer.from(token)).toEqual(Buffer.from(sealer.sealDeterministic('acc_1', 'token', plain)));
  expect(Buffer.from(secret)).not.toEqual(Buffer.from(sealer.sealRandom('acc_1', 'secret', plain)));
  expect(Buffer.from(sealer.openDeterministic('acc_1', 'token', token))).toEqual(plain);
  expect(Buffer.from(sealer.openRandom('acc_1', 'secret', secret))).toEqual(plain);
  expect(() => sealer.openDeterministic('acc_2', 'token', token)).toThrow();
  expect(() => sealer.openDeterministic('acc_1', 'secret', token)).toThrow();
  expect(() => sealer.openRandom('acc_2', 'secret', secret)).toThrow();
  expect(() => sealer.openRandom('acc_1', 'token', secret)).toThrow();
  const other = createSealer(Buffer.alloc(32, 8));
  expect(() => other.openDeterministic('acc_1', 'token', token)).toThrow();
  expect(() => other.openRandom('acc_1', 'secret', secret)).toThrow();
});

test('[MIR-6] a data file under another master key is refused', async () => {
  const folder = temporaryFolder();
  const own = await startHub({ dataFolder: folder });
  await mirrorAccount(own);
  await own.stop();
  const env = { CAIRN_MASTER_KEY: 'ab'.repeat(32) };
  await expect(startHub({ dataFolder: folder, env })).rejects.toThrow(/master key/);
});
