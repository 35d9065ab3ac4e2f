/** Clients that pipeline, give up or vanish: the hub goes on, and nothing of theirs is left. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { call } from '../support/http.ts';
import {
  type Account,
  type Credential,
  download,
  get,
  mirrorAccount,
  randomCommit,
  upload,
  uploadHeaders,
} from '../support/mirror.ts';
import { head, type RawClient, rawClient } from '../support/raw.ts';
import { useHub } from '../support/use-hub.ts';

const MiB = 1024 * 1024;
const PATIENCE_MS = 60_000;

const hub = useHub();
let owner: Account & Credential;

beforeAll(async () => {
  owner = await mirrorAccount(hub);
});

async function verified(): Promise<unknown> {
  return JSON.parse((await hub.cli('verify', '--json')).stdout) as unknown;
}

/** The hub takes and gives an upload, and the data file holds what was acknowledged and nothing else. */
async function expectHealthy(commit: string, body: Uint8Array): Promise<void> {
  expect((await upload(hub, owner, commit, body)).status).toBe(200);
  expect((await download(hub, owner, commit)).bytes.equals(body)).toBe(true);
  await expect.poll(verified, { timeout: PATIENCE_MS }).toMatchObject({ ok: true, staged_uploads: 0, problems: [] });
  const { blobs } = (await get(hub, owner, '')).json() as { blobs: readonly unknown[] };
  expect(await verified()).toMatchObject({ blobs: blobs.length });
}

function uploadHead(commit: string, body: Uint8Array, id: string): string {
  const headers = {
    ...uploadHeaders(owner, commit, body),
    'Content-Length': String(body.length),
    'X-Request-Id': id,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return head('POST /api/cert_mirror HTTP/1.1', lines);
}

/** Sends, and waits until the operating system took all of it and the hub has had a turn to read. */
async function sendAll(client: RawClient, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    client.socket.write(bytes, () => resolve());
  });
  await call(hub, '/health');
}

const cuts: readonly (readonly [name: string, size: number, sent: number])[] = [
  ['nothing of a small body', 1000, 0],
  ['half of a small body', 1000, 500],
  ['all but a byte of the largest whole body', 64 * 1024, 64 * 1024 - 1],
  ['part of the smallest streamed body', 64 * 1024 + 1, 40_000],
  ['less than a chunk', 3 * MiB, 300_000],
  ['exactly two chunks', 3 * MiB, 2 * MiB],
  ['all but a byte of three chunks', 3 * MiB, 3 * MiB - 1],
  ['most of 12 MiB', 12 * MiB, 11 * MiB + 5],
  ['most of the largest body', 50 * MiB, 40 * MiB],
];

test.each(cuts)('[NET-8] a client that vanishes leaves nothing: %s', async (_name, size, sent) => {
  const body = randomBytes(size);
  const commit = randomCommit();
  const id = `vanished-${size}-${sent}`;
  const client = await rawClient(hub.port);
  client.send(uploadHead(commit, body, id));
  await sendAll(client, body.subarray(0, sent));
  client.vanish();
  const line = await hub.waitForLog((entry) => entry['id'] === id);
  expect(line).toMatchObject({ aborted: true, route: '/api/cert_mirror' });
  expect((await download(hub, owner, commit)).status).toBe(404);
  await expectHealthy(commit, body);
});

test.each([
  ['small', 1000, 400],
  ['streamed', 2 * MiB, MiB + 1],
])('[NET-8] a body that ends before its declared length stores nothing: %s', async (_name, size, sent) => {
  const body = randomBytes(size);
  const commit = randomCommit();
  const client = await rawClient(hub.port);
  client.send(uploadHead(commit, body, `short-${size}`));
  client.send(body.subarray(0, sent));
  client.socket.end();
  await client.closed;
  expect(client.answers().filter((answer) => answer.status === 200)).toEqual([]);
  expect((await download(hub, owner, commit)).status).toBe(404);
  await expectHealthy(commit, body);
});

test('[NET-8] many clients that vanish at once leave nothing', async () => {
  const body = randomBytes(2 * MiB);
  const commit = randomCommit();
  await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const client = await rawClient(hub.port);
      client.send(uploadHead(commit, body, `crowd-${index}`));
      await sendAll(client, body.subarray(0, 100_000 * index));
      client.vanish();
    }),
  );
  await expectHealthy(commit, body);
});

test('[NET-8] a client that vanishes after its whole upload finds it stored whole or not at all', async () => {
  for (const size of [500, 64 * 1024, 3 * MiB]) {
    const body = randomBytes(size);
    const commit = randomCommit();
    const client = await rawClient(hub.port);
    client.send(uploadHead(commit, body, `unread-${size}`));
    await sendAll(client, body);
    client.vanish();
    // Sent again it is stored in either case: new, or as a safe retry.
    await expectHealthy(commit, body);
  }
});

test('[NET-8] a JSON request that is cut off changes nothing', async () => {
  const client = await rawClient(hub.port);
  client.send(
    `${head('POST /api/cert_mirror/credentials HTTP/1.1', [
      `Authorization: McpKey ${owner.mcp_key}`,
      'Content-Type: application/json',
      'Content-Length: 15',
      'X-Request-Id: cut-json',
    ])}{"rotate":true`,
  );
  await call(hub, '/health');
  client.vanish();
  await hub.waitForLog((entry) => entry['id'] === 'cut-json');
  await expectHealthy(randomCommit(), randomBytes(100));
});

test('[NET-8] heads that are cut off anywhere leave the hub as it was', async () => {
  const whole = uploadHead(randomCommit(), Buffer.of(1), 'half-head');
  const positions = Array.from({ length: 60 }, (_, index) => Math.floor((whole.length * index) / 60));
  await Promise.all(
    positions.map(async (position) => {
      const client = await rawClient(hub.port);
      await sendAll(client, Buffer.from(whole.slice(0, position)));
      client.vanish();
    }),
  );
  await expectHealthy(randomCommit(), randomBytes(100));
  expect(hub.logs.filter((entry) => entry['id'] === 'half-head')).toEqual([]);
});

test('[NET-8] a download whose reader vanishes ends, and the next one is whole', async () => {
  const body = randomBytes(20 * MiB);
  const commit = randomCommit();
  await expectHealthy(commit, body);
  const client = await rawClient(hub.port);
  client.send(
    head(`GET /api/cert_mirror/${commit}/download HTTP/1.1`, [
      `Authorization: McpKey ${owner.token}`,
      'X-Request-Id: gone-reader',
    ]),
  );
  await new Promise<void>((resolve) => client.socket.once('data', () => resolve()));
  client.vanish();
  expect(await hub.waitForLog((entry) => entry['id'] === 'gone-reader')).toMatchObject({ aborted: true });
  expect((await download(hub, owner, commit)).bytes.equals(body)).toBe(true);
});

test('[NET-8] pipelined requests are answered in order or not at all, and harm nobody', async () => {
  const key = `Authorization: McpKey ${owner.token}`;
  const pipedCommit = randomCommit();
  const pipedBody = Buffer.from('sent with the next request');
  const mixes = [
    [head('GET /health HTTP/1.1'), head('GET /ready HTTP/1.1')],
    [head('GET /api/cert_mirror/latest HTTP/1.1', [key]), head('GET /nowhere HTTP/1.1')],
    Array.from({ length: 20 }, () => head('GET /health HTTP/1.1')),
    [uploadHead(pipedCommit, pipedBody, 'piped-upload') + pipedBody.toString(), head('GET /health HTTP/1.1')],
  ];
  const expected = [[200, 200], [200, 404], Array.from({ length: 20 }, () => 200), [200, 200]];
  await expectHealthy(randomCommit(), randomBytes(100));
  for (const [index, mix] of mixes.entries()) {
    const client = await rawClient(hub.port);
    client.send(mix.join(''));
    client.socket.end();
    await client.closed;
    const statuses = client.answers().map((answer) => answer.status);
    expect(expected[index]?.slice(0, statuses.length)).toEqual(statuses);
  }
  await expectHealthy(pipedCommit, pipedBody);
});

test('[NET-8] requests one after another on one connection are each answered', async () => {
  const client = await rawClient(hub.port);
  for (let turn = 1; turn <= 5; turn += 1) {
    const body = Buffer.from(`turn ${turn}`);
    client.send(uploadHead(randomCommit(), body, `turn-${turn}`));
    client.send(body);
    const answers = await client.received(turn * 2 - 1);
    expect(answers.at(-1)?.status).toBe(200);
    client.send(head('GET /nowhere HTTP/1.1'));
    expect((await client.received(turn * 2)).at(-1)?.status).toBe(404);
  }
  client.vanish();
  await expectHealthy(randomCommit(), randomBytes(100));
});
