/**
 * Every wait has an end: slow bodies, half heads, readers that stop reading. Only outcomes are looked at, never times.
 * The tests wait for real deadlines, so they run concurrently.
 */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { beforeAll, test } from 'vitest';
import { AGENT, call } from '../support/http.ts';
import {
  type Account,
  type Credential,
  download,
  mirrorAccount,
  randomCommit,
  upload,
  uploadHeaders,
} from '../support/mirror.ts';
import { head, rawClient } from '../support/raw.ts';
import { useHub } from '../support/use-hub.ts';

const MiB = 1024 * 1024;
const PATIENCE_MS = 60_000;
/** Longer than the ten seconds after which the HTTP library would drop a socket by itself. */
const STALL_SECONDS = 18;

const hub = useHub({ env: { CAIRN_BODY_SECONDS: '1', CAIRN_STALL_SECONDS: String(STALL_SECONDS) } });
let owner: Account & Credential;
const bigCommit = randomCommit();
const big = randomBytes(50 * MiB);
const slowCommit = randomCommit();
const slow = randomBytes(2 * MiB);

beforeAll(async () => {
  owner = await mirrorAccount(hub);
  for (const [commit, body] of [
    [bigCommit, big],
    [slowCommit, slow],
  ] as const) {
    const stored = await upload(hub, owner, commit, body);
    if (stored.status !== 200) throw new Error(stored.text);
  }
});

/** What `cairn verify` finds beside the running hub. It comes to this once no upload of any test is left. */
async function verified(): Promise<unknown> {
  return JSON.parse((await hub.cli('verify', '--json')).stdout) as unknown;
}

const CLEAN = { ok: true, blobs: 2, staged_uploads: 0, problems: [] };

function uploadHead(body: Uint8Array): string {
  const headers = { ...uploadHeaders(owner, randomCommit(), body), 'Content-Length': String(body.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return head('POST /api/cert_mirror HTTP/1.1', lines);
}

test.concurrent.for<[string, number, number]>([
  ['a small one that stops at once', 1000, 0],
  ['a small one that stops half-way', 1000, 500],
  ['the largest that is held whole', 64 * 1024, 64 * 1024 - 1],
  ['a streamed one before its first chunk', 200_000, 100_000],
  ['a streamed one but for its last byte', 70_000, 70_000 - 1],
])('[NET-7] an upload that stalls is 408, closes and leaves nothing: %s', async ([_name, size, sent], { expect }) => {
  const body = randomBytes(size);
  const client = await rawClient(hub.port);
  client.send(uploadHead(body));
  client.send(body.subarray(0, sent));
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(408);
  expect(JSON.parse(answer?.body ?? '')).toEqual({ error: expect.stringContaining('1 seconds') });
  await client.closed;
  await expect.poll(verified, { timeout: PATIENCE_MS, interval: 1000 }).toMatchObject(CLEAN);
});

test.concurrent.for<[string, number, number]>([
  ['after some chunks', 5 * MiB, 3 * MiB + 17],
  ['but for its last byte', 2 * MiB, 2 * MiB - 1],
])(
  '[NET-7] a long upload that stalls is closed by the library and leaves nothing: %s',
  async ([_name, size, sent], { expect }) => {
    const body = randomBytes(size);
    const client = await rawClient(hub.port);
    client.send(uploadHead(body));
    client.send(body.subarray(0, sent));
    await client.closed;
    expect(client.answers().filter(({ status }) => status !== 408)).toEqual([]);
    await expect.poll(verified, { timeout: PATIENCE_MS, interval: 1000 }).toMatchObject(CLEAN);
  },
);

test.concurrent('[NET-7] an upload that drips is 408 in the end, however long each byte keeps the connection alive', async ({
  expect,
}) => {
  const body = randomBytes(100_000);
  const client = await rawClient(hub.port);
  client.send(uploadHead(body));
  let sent = 0;
  const drip = setInterval(() => {
    client.send(body.subarray(sent, sent + 10));
    sent += 10;
  }, 20);
  const [answer] = await client.received(1).finally(() => clearInterval(drip));
  expect(answer?.status).toBe(408);
  await client.closed;
  expect(sent).toBeLessThan(body.length);
  await expect.poll(verified, { timeout: PATIENCE_MS, interval: 1000 }).toMatchObject(CLEAN);
});

test.concurrent.for<[string, string[], string]>([
  ['with a length', ['Content-Length: 20'], '{"rotate":'],
  ['chunked', ['Transfer-Encoding: chunked'], 'a\r\n{"rotate":\r\n'],
])('[NET-7] a JSON body that stalls is 408 and closes: %s', async ([_name, lines, part], { expect }) => {
  const client = await rawClient(hub.port);
  const own = [`Authorization: McpKey ${owner.mcp_key}`, 'Content-Type: application/json'];
  client.send(head('POST /api/cert_mirror/credentials HTTP/1.1', [...own, ...lines]) + part);
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(408);
  await client.closed;
  expect((await call(hub, '/health')).status).toBe(200);
});

test.concurrent('[NET-7] a body refused for its time is not taken for one that arrived: the rest of it stores nothing', async ({
  expect,
}) => {
  const body = randomBytes(200_000);
  const client = await rawClient(hub.port);
  client.send(uploadHead(body));
  client.send(body.subarray(0, 100_000));
  expect((await client.received(1))[0]?.status).toBe(408);
  client.send(body.subarray(100_000));
  await client.closed;
  expect(client.answers().map((answer) => answer.status)).toEqual([408]);
  await expect.poll(verified, { timeout: PATIENCE_MS, interval: 1000 }).toMatchObject(CLEAN);
});

test.concurrent('[NET-7] connections that say nothing, or half a head, are closed in the end', async ({ expect }) => {
  const beginnings = ['', 'GET', 'GET /health HTTP/1.1\r\nHost: cairn.test\r\nUser-Agent: slow', '\r\n'];
  const clients = await Promise.all(
    beginnings.map(async (beginning) => {
      const client = await rawClient(hub.port);
      if (beginning !== '') client.send(beginning);
      return client;
    }),
  );
  await Promise.all(clients.map((client) => client.closed));
  expect(clients.flatMap((client) => client.answers()).filter((answer) => answer.status < 400)).toEqual([]);
  expect((await call(hub, '/health')).status).toBe(200);
});

test.concurrent('[NET-7] a client that stops reading is closed, and nobody else waits for it', async ({ expect }) => {
  const client = await rawClient(hub.port);
  client.socket.pause();
  client.send(
    head(`GET /api/cert_mirror/${bigCommit}/download HTTP/1.1`, [
      `Authorization: McpKey ${owner.token}`,
      'X-Request-Id: stopped-reading',
    ]),
  );
  const other = await download(hub, owner, bigCommit);
  expect(other.status).toBe(200);
  expect(other.bytes.equals(big)).toBe(true);
  const line = await hub.waitForLog(({ id }) => id === 'stopped-reading');
  expect(line).toMatchObject({ aborted: true, status: 200 });
  expect(line['bytes_out']).toBeLessThan(big.length);
  expect((await call(hub, '/health')).status).toBe(200);
  client.socket.resume();
  await client.closed;
  expect(client.text().length).toBeLessThan(big.length);
});

test.concurrent('[NET-7] a client that takes nothing for a while, as a full disk or a bad line does, gets all of its bytes', async ({
  expect,
}) => {
  const parts: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const headers = { Authorization: `McpKey ${owner.token}`, 'User-Agent': AGENT };
    const outgoing = request(
      `${hub.url}/api/cert_mirror/${bigCommit}/download`,
      { headers, agent: false },
      (answer) => {
        // Nobody reads: node takes in a little, and the rest waits.
        setTimeout(() => answer.on('data', (part: Buffer) => parts.push(part)), (STALL_SECONDS - 3) * 1000);
        answer.on('end', resolve);
        answer.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
  expect(Buffer.concat(parts).equals(big)).toBe(true);
});

test.concurrent('[NET-7] a client that reads slowly and never stops gets all of its bytes', async ({ expect }) => {
  const client = await rawClient(hub.port);
  let turns = 0;
  client.socket.on('data', () => {
    turns += 1;
    client.socket.pause();
    setTimeout(() => client.socket.resume(), 5);
  });
  client.send(head(`GET /api/cert_mirror/${slowCommit}/download HTTP/1.1`, [`Authorization: McpKey ${owner.token}`]));
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(200);
  expect(Buffer.from(answer?.body ?? '', 'latin1').equals(slow)).toBe(true);
  expect(turns).toBeGreaterThan(1);
  client.vanish();
});
