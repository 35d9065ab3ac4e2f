/**
 * Requests whose framing the HTTP library hides: it reads no field after one without a name. Behind a proxy that passes
 * such a field on, bytes that it sent as a body must not become a request of somebody else.
 */
import { randomBytes } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AGENT, call } from '../../support/http.ts';
import { mirrorAccount, randomCommit, sha256, upload } from '../../support/mirror.ts';
import { head, type RawClient, rawClient } from '../../support/raw.ts';
import { useHub } from '../../support/use-hub.ts';

/** This machine is the proxy. */
const hub = useHub({ env: { CAIRN_TRUSTED_PROXIES: '127.0.0.1' } });
let count = 0;

function innerRequest(): { readonly id: string; readonly bytes: string } {
  count += 1;
  const id = `hidden-${count}`;
  return { id, bytes: head('GET /health HTTP/1.1', [`X-Request-Id: ${id}`]) };
}

/** True when the hub handled the request of this id. A later request's line proves that the log has come that far. */
async function wasHandled(id: string): Promise<boolean> {
  const mark = `mark-${id}`;
  await call(hub, '/health', { headers: { 'X-Request-Id': mark } });
  await hub.waitForLog((line) => line['id'] === mark);
  return hub.logs.some((line) => line['id'] === id);
}

/** Sends the inner request with the outer one, after its answer, or in two parts. Returns the client at the end. */
async function sendBoth(outer: string, inner: string, when: string): Promise<RawClient> {
  const client = await rawClient(hub.port);
  client.send(when === 'at once' ? outer + inner : outer);
  if (when === 'after the answer') {
    await client.received(1);
    client.send(inner);
  } else if (when === 'in two parts') {
    client.send(inner.slice(0, 9));
    await sleep(50);
    client.send(inner.slice(9));
  }
  await Promise.race([client.closed, sleep(2000)]);
  client.vanish();
  return client;
}

const NAMELESS = [': x', ':', ':\t'];
const FORWARDED = 'X-Forwarded-For: 203.0.113.7';
const LINES = ['POST /api/mcp', 'POST /nowhere', 'PUT /health', 'PATCH /api/tasks/1', 'DELETE /api/tasks/1'];
const MOMENTS = ['at once', 'after the answer', 'in two parts'];

test.concurrent.each(
  LINES.flatMap((line) => NAMELESS.flatMap((field) => MOMENTS.map((when) => [line, field, when] as const))),
)(
  '[NET-13] after %s, the bytes behind a length hidden by %j are never a request, sent %s',
  async (line, field, when) => {
    const inner = innerRequest();
    const outer = head(`${line} HTTP/1.1`, [FORWARDED, field, `Content-Length: ${inner.bytes.length}`]);
    const client = await sendBoth(outer, inner.bytes, when);
    expect(client.text()).not.toContain(inner.id);
    expect(client.answers().length).toBeLessThanOrEqual(1);
    expect(await wasHandled(inner.id)).toBe(false);
  },
);

test.concurrent.each(
  ['GET /ready', 'HEAD /ready', 'OPTIONS /ready', 'GET /nowhere'].flatMap((line) =>
    NAMELESS.map((field) => [line, field] as const),
  ),
)(
  '[NET-13] a proxy never pipelines: after %s, hidden by %j, bytes sent at once are never a request',
  async (line, field) => {
    const inner = innerRequest();
    const outer = head(`${line} HTTP/1.1`, [FORWARDED, field, `Content-Length: ${inner.bytes.length}`]);
    await sendBoth(outer, inner.bytes, 'at once');
    expect(await wasHandled(inner.id)).toBe(false);
  },
);

test.concurrent.each(MOMENTS)(
  '[NET-13] a request of a proxy without X-Forwarded-For, which a field without a name hides, is the last, sent %s',
  async (when) => {
    const inner = innerRequest();
    const outer = head('GET /ready HTTP/1.1', [': x', `Content-Length: ${inner.bytes.length}`, FORWARDED]);
    const client = await sendBoth(outer, inner.bytes, when);
    expect(client.answers().length).toBeLessThanOrEqual(1);
    expect(await wasHandled(inner.id)).toBe(false);
  },
);

test('[NET-13] a proxy that frames its requests keeps its connection', async () => {
  const client = await rawClient(hub.port);
  const body = ['Content-Type: application/json', 'Content-Length: 2'];
  const requests = [
    head('GET /ready HTTP/1.1', [FORWARDED]),
    `${head('POST /api/mcp HTTP/1.1', [FORWARDED, ...body])}{}`,
    head('POST /api/mcp HTTP/1.1', [FORWARDED, 'Content-Length: 0']),
    head('GET /health HTTP/1.1', [FORWARDED]),
  ];
  for (const [at, request] of requests.entries()) {
    client.send(request);
    await client.received(at + 1);
  }
  expect(client.answers().map(({ headers }) => headers['connection'])).toEqual(requests.map(() => undefined));
  client.vanish();
});

// Such a request says nothing of the end of its connection, as no client does that keeps its connections.
test('[NET-13] an answer in chunks to a request that ends its connection is whole, and says that it is the last', async () => {
  const own = await mirrorAccount(hub);
  const commit = randomCommit();
  const blob = randomBytes(2 * 1024 * 1024);
  await upload(hub, own, commit, blob);
  const headers = { 'User-Agent': AGENT, Authorization: `McpKey ${own.token}`, Connection: 'keep-alive' };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const path = `${hub.url}/api/cert_mirror/${commit}/download`;
    httpRequest(path, { headers, agent: false }, resolve).on('error', reject).end();
  });
  expect(answer.headers).toMatchObject({ connection: 'close', 'transfer-encoding': 'chunked' });
  expect(sha256(await buffer(answer))).toBe(sha256(blob));
});
