/** One stranger, or one account with many friends, takes all that there is: others go on. No time is looked at. */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { GATEWAY, PASSWORD, post, structured, toolRequest } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { credential, download, mirrorAccount, randomCommit, upload, uploadHeaders } from '../support/mirror.ts';
import { until, untilNothingStaged } from '../support/mirror-state.ts';
import { head, type RawClient, rawClient } from '../support/raw.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

let hub: Hub | undefined;
let clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients) client.vanish();
  clients = [];
  await hub?.kill();
  hub = undefined;
});

/** A hub with little of everything, behind a proxy on this machine: a test says from which address a request came. */
async function start(env: Record<string, string> = {}): Promise<Hub> {
  const little = { CAIRN_INFLIGHT_BYTES: String(80 * MiB), CAIRN_STREAMS: '32' };
  hub = await startHub({ env: { ...little, CAIRN_TRUSTED_PROXIES: '127.0.0.1', CAIRN_SIGNUP: 'open', ...env } });
  return hub;
}

const from = (address: string) => `X-Forwarded-For: ${address}`;

async function open(on: Hub): Promise<RawClient> {
  const client = await rawClient(on.port);
  clients.push(client);
  return client;
}

/** Somebody with a password and a mirror credential. */
async function person(on: Hub) {
  const login = { email: `${randomBytes(6).toString('hex')}@example.org`, password: PASSWORD };
  const { mcp_key: key } = await structured<{ mcp_key: string }>(on, 'signup_and_get_key', login);
  return { ...login, mcp_key: key, ...(await credential(on, key)) };
}

/** What somebody else does meanwhile, from the same address and from another: all of it is served. */
async function expectServed(on: Hub, victim: Awaited<ReturnType<typeof person>>): Promise<void> {
  for (const address of ['10.9.9.9', '10.0.0.1']) {
    const headers = { Authorization: `McpKey ${victim.mcp_key}`, 'X-Forwarded-For': address };
    const made = await post(on, toolRequest(1, 'create_task', { content: 'still here' }), headers);
    expect([made.status, made.json()]).toEqual([200, expect.objectContaining({ result: expect.anything() })]);
    const [commit, bytes] = [randomCommit(), randomBytes(2 * MiB)];
    expect((await upload(on, victim, commit, bytes, { 'X-Forwarded-For': address })).status).toBe(200);
    const got = await download(on, victim, commit, { 'X-Forwarded-For': address });
    expect([got.status, got.bytes.equals(bytes)]).toEqual([200, true]);
    const login = toolRequest(1, 'login_and_get_key', { email: victim.email, password: PASSWORD });
    expect((await post(on, login, { 'X-Forwarded-For': address })).json()).toMatchObject({ result: expect.anything() });
  }
  expect((await call(on, '/health')).status).toBe(200);
}

test('[NET-11] anonymous sockets that declare 16 MiB are refused at once; slow small ones keep nobody out', async () => {
  const on = await start();
  const victim = await person(on);
  const type = 'Content-Type: application/json';
  for (let count = 0; count < 17; count += 1) {
    const client = await open(on);
    client.send(head(`POST ${GATEWAY} HTTP/1.1`, [type, `Content-Length: ${16 * MiB}`, from('10.0.0.1')]));
    expect((await client.received(1))[0]?.status).toBe(413);
  }
  const slow = head(`POST ${GATEWAY} HTTP/1.1`, [type, `Content-Length: ${64 * KiB}`, from('10.0.0.1')]);
  for (let count = 0; count < 300; count += 1) (await open(on)).send(`${slow}{`);
  await expectServed(on, victim);
});

test('[NET-11, MIR-17] slow uploads of one account hold what has arrived, and others upload', async () => {
  const on = await start();
  const [greedy, victim] = [await mirrorAccount(on), await person(on)];
  const bytes = randomBytes(50 * MiB);
  const headers = { ...uploadHeaders(greedy, randomCommit(), bytes), 'Content-Length': String(bytes.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  for (let count = 0; count < 40; count += 1) {
    const client = await open(on);
    client.send(head('POST /api/cert_mirror HTTP/1.1', [...lines, from('10.0.0.1')]));
    client.send(bytes.subarray(0, 3 * MiB + 17));
  }
  await expectServed(on, victim);
  for (const client of clients) client.vanish();
  expect(await untilNothingStaged(on)).toMatchObject({ ok: true, problems: [] });
});

test('[NET-11] more slow uploads than a thread of the pool takes leave room for jobs of others', async () => {
  const on = await start({ CAIRN_POOL_THREADS: '1' });
  const [greedy, victim] = [await mirrorAccount(on), await person(on)];
  const bytes = randomBytes(70 * KiB);
  const headers = { ...uploadHeaders(greedy, randomCommit(), bytes), 'Content-Length': String(bytes.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  for (let count = 0; count < 300; count += 1) {
    const client = await open(on);
    client.send(head('POST /api/cert_mirror HTTP/1.1', [...lines, from('10.0.0.1')]));
    client.send(bytes.subarray(0, 1));
  }
  await until('the pool has no place for more of it', () =>
    clients.some((client) => client.text().includes('the worker pool is full')) ? true : undefined,
  );
  await expectServed(on, victim);
});

test('[NET-11] five accounts of one address hold what streams they can, and others download', async () => {
  const on = await start();
  const victim = await person(on);
  for (let person = 0; person < 5; person += 1) {
    const greedy = await mirrorAccount(on);
    const commit = randomCommit();
    expect((await upload(on, greedy, commit, randomBytes(8 * MiB))).status).toBe(200);
    for (let count = 0; count < 32; count += 1) {
      const client = await open(on);
      client.socket.once('data', () => client.socket.pause());
      const lines = [`Authorization: McpKey ${greedy.token}`, from('10.0.0.1')];
      client.send(head(`GET /api/cert_mirror/${commit}/download HTTP/1.1`, lines));
      await new Promise((resolve) => client.socket.once('data', resolve));
    }
  }
  expect(clients.filter((client) => client.text().includes('too many downloads are running')).length).toBe(160 - 28);
  const [commit, bytes] = [randomCommit(), randomBytes(2 * MiB)];
  expect((await upload(on, victim, commit, bytes)).status).toBe(200);
  const got = await download(on, victim, commit, { 'X-Forwarded-For': '10.0.0.2' });
  expect([got.status, got.bytes.equals(bytes)]).toEqual([200, true]);
});

test('[NET-11] a flood of sign-ups is refused or waits, and a sign-in from elsewhere is served', async () => {
  const on = await start({ CAIRN_POOL_THREADS: '1' });
  const victim = await person(on);
  const flood = Array.from({ length: 150 }, (_, count) => {
    const email = `flood-${count}@example.org`;
    const headers = { 'X-Forwarded-For': `10.1.${count % 7}.1` };
    return post(on, toolRequest(1, 'signup_and_get_key', { email, password: PASSWORD }), headers);
  });
  let isOver = false;
  const all = Promise.all(flood).then((answers) => {
    isOver = true;
    return answers;
  });
  const key = await structured<{ mcp_key: string }>(on, 'login_and_get_key', {
    email: victim.email,
    password: PASSWORD,
  });
  expect(key.mcp_key).toMatch(/^[0-9a-f]{64}$/);
  // It went in between: the flood is far from over.
  expect(isOver).toBe(false);
  expect((await all).every(({ status }) => status === 200)).toBe(true);
});
