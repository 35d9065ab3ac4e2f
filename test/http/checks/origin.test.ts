/** Which pages may call from a browser: the gateway refuses foreign ones, the CORS protocol admits those of the setting. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  accessToken,
  GATEWAY,
  mirrorTool,
  post,
  request,
  structured,
  toolRequest,
  withKey,
} from '../../support/gateway.ts';
import { type Answer, call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { type Account, account } from '../../support/mirror.ts';
import { rawClient } from '../../support/raw.ts';

const APP = 'https://app.example';
const OTHER_APP = 'http://localhost:3000';

let hub: Hub;
let closed: Hub;
let owner: Account;
let token: string;

beforeAll(async () => {
  [hub, closed] = await Promise.all([startHub({ env: { CAIRN_ALLOWED_ORIGINS: `${APP}, ${OTHER_APP}` } }), startHub()]);
  owner = await account(hub);
  token = await accessToken(hub, owner.email);
});

afterAll(async () => {
  await Promise.all([hub.stop(), closed.stop()]);
});

const corsOf = ({ headers }: Answer) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));
const send = (Origin: string | undefined, body: unknown = request(1, 'tools/list')) =>
  post(hub, body, { ...withKey(owner.mcp_key), Origin });

test('[NET-9] the gateway answers without an Origin, with its own, and with an allowed one', async () => {
  for (const origin of [undefined, hub.url, hub.url.replace('http:', 'https:'), APP, OTHER_APP]) {
    expect([origin, (await send(origin)).status]).toEqual([origin, 200]);
  }
});

const foreign = [
  'https://evil.example',
  'http://app.example',
  'https://app.example:8443',
  'https://app.example.evil.example',
  'https://evil-app.example',
  'https://APP.example/',
  'null',
  '',
  '*',
  'http://127.0.0.1',
  `${APP}, ${APP}`,
  'https://app.example https://evil.example',
];

test.each(foreign)('[NET-9] the gateway refuses the Origin %j with 403, and nothing runs', async (origin) => {
  const answer = await send(origin, toolRequest(1, 'create_task', { content: 'from a foreign page' }));
  expect(answer.status).toBe(403);
  expect(answer.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32003, message: expect.stringContaining('CAIRN_ALLOWED_ORIGINS') },
  });
  expect(corsOf(answer)).toEqual([]);
  const mirrored = await mirrorTool(
    hub,
    'create_task',
    { content: 'x' },
    { ...withKey(owner.mcp_key), Origin: origin },
  );
  expect([mirrored.status, mirrored.json()]).toMatchObject([403, { error: expect.any(String), code: -32003 }]);
  expect(await structured(hub, 'list_tasks', {}, owner.mcp_key)).toMatchObject({ count: 0 });
});

test('[NET-9] a name that was bound to this address is not its own origin (DNS rebinding)', async () => {
  const rebound = `rebound.example:${hub.port}`;
  const own = `localhost:${hub.port}`;
  const status = async (host: string, origin: string) => {
    const client = await rawClient(hub.port);
    const body = JSON.stringify(request(1, 'tools/list'));
    const head = [
      'POST /api/mcp HTTP/1.1',
      `Host: ${host}`,
      `Origin: ${origin}`,
      'User-Agent: test/1',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    client.send(`${head.join('\r\n')}\r\n\r\n${body}`);
    const [answer] = await client.received(1);
    client.vanish();
    return answer?.status;
  };
  expect(await status(rebound, `http://${rebound}`)).toBe(403);
  expect(await status(own, `http://${own}`)).toBe(200);
  expect(await status(own, `http://${rebound}`)).toBe(403);
});

test('[NET-9] with a public address that one is its own, and the addressed one is not', async () => {
  const named = await startHub({ env: { CAIRN_PUBLIC_URL: 'https://cairn.example' } });
  const from = async (Origin: string) => (await post(named, request(1, 'tools/list'), { Origin })).status;
  expect(await from('https://cairn.example')).toBe(200);
  expect(await from('http://cairn.example')).toBe(403);
  expect(await from(named.url)).toBe(403);
  await named.stop();
});

test('[NET-9] two Origin headers are no allowed one', async () => {
  const client = await rawClient(hub.port);
  const body = JSON.stringify(request(1, 'tools/list'));
  client.send(
    `POST ${GATEWAY} HTTP/1.1\r\nHost: h\r\nUser-Agent: t/1\r\nOrigin: ${APP}\r\nOrigin: https://evil.example\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [answer] = await client.received(1);
  client.vanish();
  expect(answer?.status).toBe(403);
});

test('[NET-9] a foreign page is refused before its credential is looked at', async () => {
  const answer = await post(hub, request(1, 'tools/list'), { ...withKey('0'.repeat(64)), Origin: foreign[0] });
  expect(answer.status).toBe(403);
});

test('[NET-9] by default no other origin is allowed', async () => {
  for (const origin of [APP, OTHER_APP]) {
    expect((await post(closed, request(1, 'tools/list'), { Origin: origin })).status).toBe(403);
  }
  expect((await post(closed, request(1, 'tools/list'), { Origin: closed.url })).status).toBe(200);
});

const preflight = (to: Hub, origin: string | undefined, path: string, method: string, headers: string) =>
  call(to, path, {
    method: 'OPTIONS',
    headers: { Origin: origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': headers },
  });

test.each([
  [GATEWAY, 'POST', 'authorization,content-type,mcp-method,mcp-name,mcp-protocol-version'],
  [`${GATEWAY}/tools/list_tasks`, 'POST', 'authorization,content-type'],
  ['/api/tasks/1', 'PATCH', 'authorization,content-type'],
  ['/api/tasks/1', 'DELETE', 'authorization'],
  ['/api/categories', 'GET', 'authorization,if-none-match,x-request-id'],
])('[NET-9] a preflight of an allowed origin for %s %s is answered', async (path, method, headers) => {
  const answer = await preflight(hub, APP, path, method, headers);
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(answer.headers['access-control-allow-origin']).toBe(APP);
  const allowed = (name: string) => String(answer.headers[name]).toLowerCase().split(/, */);
  expect(allowed('access-control-allow-methods')).toContain(method.toLowerCase());
  expect(allowed('access-control-allow-headers')).toEqual(expect.arrayContaining(headers.split(',')));
  expect(Number(answer.headers['access-control-max-age'])).toBeGreaterThan(0);
  expect(answer.headers['vary']).toMatch(/origin/i);
  expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
});

test('[NET-9] a preflight of any other origin gets no permission', async () => {
  for (const origin of ['https://evil.example', 'null', undefined]) {
    expect(corsOf(await preflight(hub, origin, GATEWAY, 'POST', 'authorization'))).toEqual([]);
  }
  expect(corsOf(await preflight(closed, APP, GATEWAY, 'POST', 'authorization'))).toEqual([]);
});

test('[NET-9] a page of an allowed origin may read answers and refusals, and the headers that it needs', async () => {
  const answers = [
    await send(APP),
    await post(hub, request(1, 'tools/list'), { ...withKey('0'.repeat(64)), Origin: APP }),
    await call(hub, '/api/tasks', { headers: { Authorization: `Bearer ${token}`, Origin: APP } }),
    await call(hub, '/api/nowhere', { headers: { Origin: APP } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 404]);
  for (const { headers } of answers) {
    expect(headers['access-control-allow-origin']).toBe(APP);
    expect(headers['access-control-expose-headers']).toMatch(/Retry-After/);
    expect(headers['vary']).toMatch(/origin/i);
  }
});

test('[NET-9] nobody else gets CORS headers; other surfaces answer them all the same', async () => {
  for (const origin of [undefined, hub.url, 'https://evil.example']) {
    const answer = await call(hub, '/api/tasks', { headers: { Authorization: `Bearer ${token}`, Origin: origin } });
    expect([answer.status, corsOf(answer)]).toEqual([200, []]);
  }
  expect(corsOf(await send(undefined))).toEqual([]);
  expect(corsOf(await send(hub.url))).toEqual([]);
  expect(corsOf(await call(closed, '/health', { headers: { Origin: APP } }))).toEqual([]);
});
