/** What MCP adds on the same URL, by plain HTTP: the revisions with a handshake, and what they share with the newest. */
import { beforeAll, expect, test } from 'vitest';
import {
  GATEWAY,
  linesOf,
  NDJSON,
  post,
  type RpcReply,
  replyOf,
  request,
  textOf,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const hub = useHub({ loudest: 40 });
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const send = (body: unknown, headers = {}) => post(hub, body, { ...withKey(owner.mcp_key), ...headers });
const legacy = (body: unknown, version = '2025-11-25') => send(body, { 'MCP-Protocol-Version': version });
const initialize = (protocolVersion: unknown) =>
  request(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });

test.each(LEGACY)('[MCP-1] initialize answers the version %s that was asked for', async (version) => {
  const answer = await send(initialize(version));
  expect(answer.status).toBe(200);
  expect(answer.json()).toEqual({
    jsonrpc: '2.0',
    id: 0,
    result: {
      protocolVersion: version,
      capabilities: {
        tools: { listChanged: false },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
      },
      serverInfo: expect.objectContaining({ name: expect.any(String), version: expect.any(String) }),
      instructions: expect.stringContaining('signup_and_get_key'),
    },
  });
  expect(answer.headers['mcp-session-id']).toMatch(/^plain-[0-9a-f-]{36}$/);
});

test.each(['2024-10-07', '2026-07-28', '2099-01-01', '', 7, null, undefined])(
  '[MCP-1] initialize answers the newest of its versions when asked for %j',
  async (version) => {
    expect(replyOf(await send(initialize(version))).result).toMatchObject({ protocolVersion: '2025-11-25' });
  },
);

test('[MCP-1] initialize without params, and with the version header, answers as well', async () => {
  for (const answer of [await send(request(1, 'initialize')), await legacy(initialize('2025-06-18'), '2025-06-18')]) {
    expect(replyOf(answer).result).toMatchObject({ protocolVersion: expect.stringMatching(/^2025-/) });
  }
});

test.each(['notifications/initialized', 'notifications/cancelled', 'notifications/roots/list_changed'])(
  '[MCP-1] %s is 202 without a body',
  async (method) => {
    for (const headers of [{}, { 'MCP-Protocol-Version': '2025-06-18' }, { Authorization: undefined }]) {
      const answer = await send({ jsonrpc: '2.0', method, params: { requestId: 1 } }, headers);
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
  },
);

test('[MCP-1] ping answers an empty object', async () => {
  for (const version of LEGACY) {
    expect((await legacy(request(0, 'ping'), version)).json()).toEqual({ jsonrpc: '2.0', id: 0, result: {} });
  }
});

test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'])('[MCP-1] %s on the URL is 405 and allows POST', async (method) => {
  for (const headers of [withKey(owner.mcp_key), { Accept: 'text/event-stream', 'Mcp-Session-Id': 'x' }]) {
    const answer = await call(hub, GATEWAY, { method, headers });
    expect([answer.status, answer.headers['allow']?.split(', ')]).toEqual([405, expect.arrayContaining(['POST'])]);
    if (method !== 'HEAD') expect(replyOf(answer).error).toEqual({ code: -32601, message: expect.any(String) });
  }
});

test.each(['2024-10-07', '2027-01-01', 'latest', '2025-11-25, 2025-06-18', ''])(
  '[MCP-1] the version header %j is 400 for whatever comes with it',
  async (version) => {
    const bodies = [
      request(1, 'tools/list'),
      toolRequest(1, 'list_tasks'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      [request(1, 'ping')],
    ];
    for (const body of bodies) {
      const answer = await legacy(body, version);
      expect([answer.status, replyOf(answer).error]).toMatchObject([400, { code: -32022 }]);
      expect(replyOf(answer).error?.data?.['supported']).toEqual(['2026-07-28', ...LEGACY]);
    }
  },
);

test('[MCP-1] no session is needed: any id of one is ignored, and calls come in any order', async () => {
  const answer = await send(toolRequest(1, 'list_tasks'), {
    'MCP-Protocol-Version': '2025-11-25',
    'Mcp-Session-Id': 'no such session',
  });
  expect([answer.status, answer.headers['mcp-session-id']]).toEqual([200, undefined]);
  expect(replyOf(answer).error).toBeUndefined();
});

test.each(LEGACY)(
  '[MCP-2] in %s an unknown method is -32601 in HTTP 200, and results carry no newer fields',
  async (version) => {
    const unknown = await legacy(request(1, 'subscriptions/listen', { notifications: {} }), version);
    expect([unknown.status, replyOf(unknown).error?.code]).toEqual([200, -32601]);
    const listed = replyOf(await legacy(request(2, 'tools/list'), version));
    expect(Object.keys(listed.result ?? {})).toEqual(['tools']);
  },
);

test('[MCP-1] initialize names an icon, which is there', async () => {
  const { result } = replyOf(await send(initialize('2025-11-25')));
  const { icons } = (result as Record<string, unknown>)['serverInfo'] as { icons: { src: string; mimeType: string }[] };
  const icon = await fetch(icons[0]?.src ?? '', { headers: { 'User-Agent': 'test' } });
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, icons[0]?.mimeType]);
});

test.each([
  ['resources/list', 'resources'],
  ['prompts/list', 'prompts'],
])('[MCP-6, MCP-7] %s answers every dialect, and an empty list without a credential', async (method, field) => {
  for (const headers of [{}, { 'MCP-Protocol-Version': '2025-06-18' }]) {
    expect(replyOf(await send(request(1, method, {}), headers)).result).toEqual({ [field]: expect.any(Array) });
  }
  expect(replyOf(await send(request(1, method, {}), { Authorization: undefined })).result).toEqual({ [field]: [] });
});

const refusals: readonly (readonly [string, string, unknown, number, RegExp])[] = [
  ['a missing argument', 'create_task', {}, -32602, /content is required/],
  ['an unknown argument', 'create_task', { content: 'x', contnt: 'y' }, -32602, /did you mean content/],
  ['a wrong type', 'list_tasks', { limit: 'x' }, -32602, /limit/],
  ['a task that is not there', 'delete_task', { id: 404 }, -32005, /task/],
  ['a wrong login', 'login_and_get_key', { email: 'a@b.c', password: 'wrong horse' }, -32001, /wrong/],
];

test.each(refusals)('[MCP-3] %s is a result with isError in MCP and an error in the bare dialect', async (...row) => {
  const [, name, args, code, text] = row;
  for (const version of LEGACY) {
    const answer = await legacy(toolRequest(1, name, args), version);
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'text', text: expect.stringMatching(text) }], isError: true },
      },
    ]);
  }
  const bare = replyOf(await send(toolRequest(1, name, args)));
  expect(bare).toMatchObject({ error: { code, message: expect.stringMatching(text) } });
});

test('[MCP-3] an unknown tool stays -32602 in every revision', async () => {
  for (const version of LEGACY) {
    const answer = await legacy(toolRequest(1, 'create_tasks'), version);
    expect([answer.status, replyOf(answer).error]).toMatchObject([200, { code: -32602, data: { field: 'name' } }]);
    expect(replyOf(answer).error?.message).toContain('create_task');
  }
});

test('[MCP-3, RPC-7] a missing key stays HTTP 401 in MCP', async () => {
  const answer = await post(hub, toolRequest(1, 'list_tasks'), { 'MCP-Protocol-Version': '2025-11-25' });
  expect([answer.status, replyOf(answer).error?.code]).toEqual([401, -32001]);
});

test('[RPC-4, MCP-1] the revision that has batches gets them', async () => {
  const answer = await legacy([request(0, 'ping'), toolRequest(1, 'create_task', {})], '2025-03-26');
  const replies = answer.json() as unknown as RpcReply[];
  expect(replies.map(({ id }) => String(id)).sort()).toEqual(['0', '1']);
  expect(replies.find(({ id }) => id === 1)?.result).toMatchObject({ isError: true });
});

test.each([
  undefined,
  '*/*',
  'application/json',
  'text/event-stream',
  'application/json, text/event-stream',
  'text/html',
  'nonsense',
  '',
])('[MCP-4] with Accept: %s the answer is JSON', async (accept) => {
  for (const headers of [{}, { 'MCP-Protocol-Version': '2025-11-25' }]) {
    const answer = await send(toolRequest(1, 'list_tasks', { limit: 500 }), { ...headers, Accept: accept });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringMatching(/^application\/json/)]);
    expect(replyOf(answer).result).toBeDefined();
  }
});

test('[MCP-4] a large result is no NDJSON unless it was asked for', async () => {
  const made = Array.from({ length: 100 }, (_, n) => toolRequest(n, 'create_task', { content: 'é'.repeat(9000) }));
  await send(made);
  const big = toolRequest(1, 'list_tasks', { limit: 500 });
  const plain = await legacy(big);
  expect(plain.bytes.length).toBeGreaterThan(1024 * 1024);
  expect(plain.headers['content-type']).toMatch(/^application\/json/);
  const asked = await send(big, { 'MCP-Protocol-Version': '2025-11-25', Accept: `${NDJSON}, application/json` });
  expect(asked.headers['content-type']).toBe(NDJSON);
  expect(textOf(linesOf(asked)[0])).toMatch(/100 tasks/);
});

test.each(['/.well-known/oauth-authorization-server/api/mcp', '/.well-known/openid-configuration', '/register'])(
  '[MCP-4] %s is 404 in JSON',
  async (path) => {
    for (const headers of [
      { Accept: 'text/html' },
      { Accept: 'application/json', 'MCP-Protocol-Version': '2025-11-25' },
    ]) {
      const answer = await call(hub, path, { headers });
      expect([answer.status, answer.headers['content-type']]).toEqual([
        404,
        expect.stringMatching(/^application\/json/),
      ]);
      expect(answer.json()).toEqual({ error: expect.any(String) });
    }
  },
);

test('[MCP-4] /.well-known is answered without a User-Agent, as some clients ask for it', async () => {
  const answer = await call(hub, '/.well-known/oauth-protected-resource', { headers: { 'User-Agent': undefined } });
  expect(answer.status).toBe(200);
});
