/**
 * Strict request framing: what two parties could read differently is refused, and nothing after it is answered.
 * Several wait until the library closes a connection, so all run concurrently.
 */
import { beforeAll, expect, test } from 'vitest';
import { ENDINGS, LAST, NEVER_ANSWERED, REFUSED } from '../../support/bad-framing.ts';
import { call } from '../../support/http.ts';
import { CLOSED, SERVED, SILENT } from '../../support/http-probe.ts';
import { type Account, account } from '../../support/mirror.ts';
import { head, rawClient } from '../../support/raw.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let owner: Account;
let count = 0;

beforeAll(async () => {
  owner = await account(hub);
});

const POST = 'POST /api/cert_mirror/credentials HTTP/1.1';

function innerRequest(): { readonly id: string; readonly bytes: string } {
  count += 1;
  const id = `inner-${count}`;
  return { id, bytes: head('GET /health HTTP/1.1', [`X-Request-Id: ${id}`]) };
}

/** True when the hub handled the request of this id. A later request's line proves that the log has come that far. */
async function wasHandled(id: string): Promise<boolean> {
  const mark = `mark-${id}`;
  await call(hub, '/health', { headers: { 'X-Request-Id': mark } });
  await hub.waitForLog((line) => line['id'] === mark);
  return hub.logs.some((line) => line['id'] === id);
}

test.concurrent.each(REFUSED)('[NET-3] %s is refused and the connection closes', async (_name, bytes) => {
  const client = await rawClient(hub.port);
  client.send(bytes);
  await client.closed;
  const statuses = client.answers().map((answer) => answer.status);
  expect(statuses).toHaveLength(1);
  expect([400, 505]).toContain(statuses[0]);
});

test.concurrent.each(REFUSED)('[NET-3] a request smuggled behind %s gets no answer', async (_name, bytes) => {
  const inner = innerRequest();
  const client = await rawClient(hub.port);
  client.send(Buffer.from(bytes + inner.bytes, 'latin1'));
  await client.closed;
  expect(client.answers().filter((answer) => answer.status !== 400 && answer.status !== 505)).toEqual([]);
  expect(client.answers().length).toBeLessThanOrEqual(1);
  expect(client.text()).not.toContain(inner.id);
  expect(await wasHandled(inner.id)).toBe(false);
});

test.concurrent('[NET-3] what cannot be read as a request is at most refused, nothing after it is handled, and the connection closes', async () => {
  const outcomes = await Promise.all(
    NEVER_ANSWERED.map(async ([name, bytes]) => {
      const inner = innerRequest();
      const client = await rawClient(hub.port);
      client.send(Buffer.from(bytes + inner.bytes, 'latin1'));
      await client.closed;
      const good = client.answers().filter((answer) => answer.status !== 400);
      return { name, good, handled: await wasHandled(inner.id) };
    }),
  );
  expect(outcomes).toEqual(NEVER_ANSWERED.map(([name]) => ({ name, good: [], handled: false })));
});

test.concurrent.each([
  ['a route that takes no body', 'GET /health HTTP/1.1', 200],
  ['a request that is refused for its credential', POST, 401],
  ['a path that does not exist', 'POST /nowhere HTTP/1.1', 404],
])('[NET-3] a request inside the declared body of %s is body and nothing else', async (_name, line, status) => {
  const inner = innerRequest();
  const client = await rawClient(hub.port);
  client.send(head(line, [`Content-Length: ${inner.bytes.length}`]) + inner.bytes);
  expect((await client.received(1)).map((answer) => answer.status)).toEqual([status]);
  client.send(head('GET /ready HTTP/1.1'));
  expect((await client.received(2)).map((answer) => answer.status)).toEqual([status, 200]);
  expect(await wasHandled(inner.id)).toBe(false);
  client.vanish();
});

test.concurrent('[NET-3] a request inside a chunk is body and nothing else', async () => {
  const inner = innerRequest();
  const client = await rawClient(hub.port);
  const size = inner.bytes.length.toString(16);
  const lines = [
    `Authorization: McpKey ${owner.mcp_key}`,
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ];
  client.send(`${head(POST, lines)}${size}\r\n${inner.bytes}\r\n0\r\n\r\n`);
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(400);
  expect(JSON.parse(answer?.body ?? '')).toEqual({ error: 'body is not valid JSON' });
  expect(await wasHandled(inner.id)).toBe(false);
  client.vanish();
});

test.concurrent.each([
  ['one chunk', ['2\r\n{}\r\n0\r\n\r\n']],
  ['one byte a chunk', ['1\r\n{\r\n', '1\r\n}\r\n', '0\r\n\r\n']],
  ['a chunk size cut in two', ['1', '\r\n{\r\n1\r\n}\r\n0\r', '\n\r\n']],
  ['upper and lower case sizes', [`A\r\n{${' '.repeat(9)}\r\n`, `b\r\n${' '.repeat(10)}}\r\n0\r\n\r\n`]],
])('[NET-3] a chunked JSON body of %s is accepted', async (_name, parts) => {
  const client = await rawClient(hub.port);
  client.socket.setNoDelay(true);
  client.send(
    head(POST, [
      `Authorization: McpKey ${owner.mcp_key}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]),
  );
  for (const part of parts) {
    client.send(part);
    // A request of another connection in between: the parts reach the hub one by one.
    await call(hub, '/health');
  }
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(200);
  expect(['created', 'existing']).toContain((JSON.parse(answer?.body ?? '{}') as { status: string }).status);
  client.vanish();
});

test.concurrent.each(['a.test', 'A.Test:80', 'my_hub.local:8787', '127.0.0.1:8787', '[::1]:8787', '[2001:db8::1]'])(
  '[NET-3] Host: %s is a host',
  async (host) => {
    const client = await rawClient(hub.port);
    client.send(head('GET /ready HTTP/1.1', [`Host: ${host}`], { host: false }));
    expect((await client.received(1))[0]?.status).toBe(200);
    client.vanish();
  },
);

test.concurrent.each(ENDINGS)(
  '[NET-3] after a chunked body with %s the connection ends, and nothing after it is handled',
  async (_name, body) => {
    const lines = [
      `Authorization: McpKey ${owner.mcp_key}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ];
    await Promise.all(
      [false, true].map(async (isApart) => {
        const inner = innerRequest();
        const client = await rawClient(hub.port);
        client.send(head(POST, lines) + body + (isApart ? '' : inner.bytes));
        // Sent when the first one is answered, or its connection is gone.
        if (isApart) {
          await Promise.race([client.received(1).catch(() => undefined), client.closed]);
          client.send(inner.bytes);
        }
        await client.closed;
        expect(client.answers().length).toBeLessThanOrEqual(1);
        expect(client.text()).not.toContain(inner.id);
        expect(await wasHandled(inner.id)).toBe(false);
      }),
    );
  },
);

test.concurrent('[NET-3] a download that was asked for with a chunked body is whole, and ends its connection', async () => {
  const client = await rawClient(hub.port);
  const lines = [
    `Authorization: McpKey ${owner.mcp_key}`,
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ];
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  client.send(`${head('POST /api/mcp HTTP/1.1', lines)}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  await client.closed;
  expect(client.answers()[0]).toMatchObject({ status: 200, headers: { connection: 'close' } });
  expect(client.answers()[0]?.body).toContain('create_task');
});

test.concurrent('[NET-3] no answer of the service names the library', async () => {
  const client = await rawClient(hub.port);
  client.send(head('GET /health HTTP/1.1'));
  await client.received(1);
  expect(client.text()).not.toMatch(/uWebSockets|Server:/i);
  client.vanish();
});

test.concurrent('[NET-3] the front door says in one sentence what is wrong with the framing', async () => {
  const client = await rawClient(hub.port);
  client.send(`${head(POST, ['Content-Length: 2', 'Content-Length: 2'])}{}`);
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(400);
  expect(JSON.parse(answer?.body ?? '')).toEqual({
    error: 'bad request framing: send at most one Content-Length header',
  });
  expect(answer?.headers['connection']).toBe('close');
});

const served = Object.entries(SERVED).flatMap(([status, cases]) =>
  Object.entries(cases).map(([name, bytes]) => [name, Number(status), bytes] as const),
);

test.concurrent.each(served)(
  '[NET-3] %s is answered with %i, and the next request once',
  async (_name, status, bytes) => {
    const inner = innerRequest();
    const client = await rawClient(hub.port);
    client.send(Buffer.from(bytes, 'latin1'));
    expect((await client.received(1)).map((answer) => answer.status)).toEqual([status]);
    client.send(inner.bytes);
    expect((await client.received(2)).map((answer) => answer.status)).toEqual([status, 200]);
    expect(client.answers()[1]?.headers['x-request-id']).toBe(inner.id);
    expect(client.text()).not.toContain('echoed-secret');
    client.vanish();
  },
);

test.concurrent.each(LAST)('[NET-3] nothing in one packet after %s is handled', async (_name, bytes) => {
  const inner = innerRequest();
  const client = await rawClient(hub.port);
  client.send(bytes + inner.bytes);
  await client.closed;
  expect(await wasHandled(inner.id)).toBe(false);
});

test.concurrent.each(LAST)('[NET-3] %s is answered when nothing comes after it', async (_name, bytes) => {
  const client = await rawClient(hub.port, { ofHead: bytes.startsWith('HEAD') });
  client.send(bytes);
  await client.received(1);
  client.vanish();
});

test.concurrent('[NET-3] nothing after a request of Http11Probe that ends its connection is handled', async () => {
  const outcomes = await Promise.all(
    Object.entries({ ...CLOSED, ...SILENT }).map(async ([name, bytes]) => {
      const inner = innerRequest();
      const client = await rawClient(hub.port);
      client.send(Buffer.from(bytes + inner.bytes, 'latin1'));
      await client.closed;
      const answers = client.answers();
      // Only the library refuses these, so any other status is an answer of the hub.
      const isServed = name in SILENT && answers.some(({ status }) => status !== 400 && status !== 505);
      return { name, isMore: answers.length > 1, isServed, handled: await wasHandled(inner.id) };
    }),
  );
  expect(outcomes.filter(({ isMore, isServed, handled }) => isMore || isServed || handled)).toEqual([]);
});
