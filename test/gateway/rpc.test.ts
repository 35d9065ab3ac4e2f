/** The JSON-RPC envelope from outside: what is a request, what is refused with which code, and what needs a credential. */
import { beforeAll, expect, test } from 'vitest';
import {
  accessToken,
  callTool,
  linesOf,
  NDJSON,
  post,
  type RpcReply,
  replyOf,
  request,
  structuredOf,
  textOf,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import { AGENT, call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { rawClient } from '../support/raw.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const send = (body: unknown, headers = {}) => post(hub, body, { ...withKey(owner.mcp_key), ...headers });
const failed = (code: number, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: expect.any(String) },
});
const LIST = 'tools/list';

test('[RPC-1] a listing and a call answer in the shapes of the interface', async () => {
  const listed = await send(request(1, LIST));
  expect([listed.status, listed.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(listed.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) } });
  const called = await send(toolRequest('a', 'list_tasks', { limit: 1 }));
  expect(called.status).toBe(200);
  expect(called.json()).toEqual({
    jsonrpc: '2.0',
    id: 'a',
    result: { content: [{ type: 'text', text: expect.any(String) }], structuredContent: expect.any(Object) },
  });
});

test.each([
  ['no JSON', '{"jsonrpc":"2.0","id":1'],
  ['an empty body', ''],
  ['blanks only', ' \n '],
  ['a word', 'tools/list'],
  ['two documents', '{}{}'],
  ['a byte order mark in front', '\ufeff{"jsonrpc":"2.0","id":1,"method":"nope"}x'],
  ['a number that is none', '{"jsonrpc":"2.0","id":01,"method":"tools/list"}'],
  ['a batch that is cut off', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"},'],
])('[RPC-2] %s is -32700 with id null', async (_, body) => {
  const answer = await send(body);
  expect([answer.status, answer.json()]).toEqual([200, failed(-32700)]);
});

test('[RPC-2] invalid UTF-8 is -32700', async () => {
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list","x":"?"}');
  bytes[bytes.indexOf('?')] = 0xff;
  expect((await send(bytes)).json()).toEqual(failed(-32700));
});

test('[RPC-2] deep nesting is -32700, and the depth that is allowed is not', async () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const body = (depth: number) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":${nested(depth)}}}`;
  expect((await send(body(62))).json()).toMatchObject({ id: 1, result: {} });
  for (const depth of [63, 200_000]) expect((await send(body(depth))).json()).toEqual(failed(-32700));
});

const notRequests: readonly (readonly [string, unknown, unknown])[] = [
  ['the number 1', '1', null],
  ['null', 'null', null],
  ['a string', '"tools/list"', null],
  ['true', 'true', null],
  ['an empty object', {}, null],
  ['an id object', { jsonrpc: '2.0', id: {}, method: LIST }, null],
  ['an id true', { jsonrpc: '2.0', id: true, method: LIST }, null],
  ['an id list', { jsonrpc: '2.0', id: [1], method: LIST }, null],
  ['an id out of range', '{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}', null],
  ['a missing method', { jsonrpc: '2.0', id: 1 }, 1],
  ['a method that is not a string', { jsonrpc: '2.0', id: 'x', method: 7 }, 'x'],
  ['a missing version', { id: 2, method: LIST }, 2],
  ['another version', { jsonrpc: '1.0', id: 3, method: LIST }, 3],
  ['a version that is a number', { jsonrpc: 2.0, id: 0, method: LIST }, 0],
];

test.each(notRequests)('[RPC-2] %s is not a request: -32600', async (_, body, id) => {
  const answer = await send(body);
  expect([answer.status, answer.json()]).toEqual([200, failed(-32600, id)]);
});

test.each([0, -1, 1.5, 2 ** 53, '', 'a"b\u2028', null])('[RPC-2] the id %j is answered as it is', async (id) => {
  expect((await send(request(id, LIST))).json()).toMatchObject({ id, result: { tools: expect.any(Array) } });
  expect((await send(request(id, 'nope'))).json()).toEqual(failed(-32601, id));
});

test('[RPC-2] params may be null, may not be positional, and must be structured', async () => {
  expect((await send('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}')).json()).toMatchObject({
    result: {},
  });
  for (const method of [LIST, 'tools/call']) {
    const reply = replyOf(await send(request(1, method, ['x'])));
    expect(reply.error).toMatchObject({ code: -32602, data: { field: 'params' } });
  }
  for (const params of ['x', 7, true]) {
    const reply = replyOf(await send(request(1, LIST, params)));
    expect([-32600, -32602]).toContain(reply.error?.code);
    expect(reply.id).toBe(1);
  }
});

test.each(['nope', 'tools/delete', 'Tools/List', 'tools/list ', 'rpc.discover', '__proto__', 'constructor', ''])(
  '[RPC-2] the method %j is unknown: -32601',
  async (method) => {
    expect((await send(request(9, method))).json()).toEqual(failed(-32601, 9));
  },
);

test('[RPC-2] an unknown method of any length is told in a short message', async () => {
  const reply = replyOf(await send(request(1, 'm'.repeat(100_000))));
  expect(reply.error?.code).toBe(-32601);
  expect(reply.error?.message.length).toBeLessThan(300);
});

const badCalls: readonly (readonly [string, unknown, string])[] = [
  ['no params', undefined, 'name'],
  ['no name', {}, 'name'],
  ['a name that is not a string', { name: 7 }, 'name'],
  ['an unknown tool', { name: 'create_tusk', arguments: {} }, 'name'],
  ['a name of every object', { name: 'toString' }, 'name'],
  ['the name __proto__', { name: '__proto__' }, 'name'],
  ['arguments that are a list', { name: 'create_task', arguments: [] }, 'arguments'],
  ['arguments that are a string', { name: 'create_task', arguments: 'x' }, 'arguments'],
  ['a missing argument', { name: 'create_task', arguments: {} }, 'content'],
  ['an argument of a wrong type', { name: 'create_task', arguments: { content: 7 } }, 'content'],
  ['a number out of bounds', { name: 'list_tasks', arguments: { limit: 0 } }, 'limit'],
];

test.each(badCalls)('[RPC-2, RPC-6] a call with %s is -32602 and names the field', async (_, params, field) => {
  const answer = await send(request(1, 'tools/call', params));
  expect(answer.status).toBe(200);
  expect(replyOf(answer).error).toMatchObject({ code: -32602, message: expect.any(String), data: { field } });
  expect(replyOf(answer).error?.message.length).toBeGreaterThan(5);
});

test('[RPC-6] what an agent needs stands in the message: the field, the bound, what is not there', async () => {
  const message = async (name: string, args: unknown) =>
    (await callTool(hub, name, args, owner.mcp_key)).error?.message;
  expect(await message('create_task', {})).toContain('content is required');
  expect(await message('list_tasks', { limit: 501 })).toMatch(/limit.*500/);
  const gone = await callTool(hub, 'update_task', { id: 404, content: 'x' }, owner.mcp_key);
  expect(gone.error).toMatchObject({ code: -32005, message: expect.stringMatching(/task/) });
});

test('[RPC-3] a notification gets 202 and no body, whatever it says', async () => {
  for (const method of [LIST, 'tools/call', 'nope', 'notifications/initialized']) {
    const answer = await send({ jsonrpc: '2.0', method, params: { name: 'nope' } });
    expect([answer.status, answer.text]).toEqual([202, '']);
  }
  const late = await send({ jsonrpc: '2.0', id: 7, result: {} });
  expect([late.status, late.text]).toEqual([202, '']);
});

test('[RPC-2] a body above 16 MiB is 413 before it is read, told as JSON-RPC', async () => {
  const client = await rawClient(hub.port);
  const bytes = 60 * 1024 * 1024;
  client.send(
    `POST /api/mcp HTTP/1.1\r\nHost: h\r\nUser-Agent: ${AGENT}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  const [answer] = await client.received(1);
  client.vanish();
  expect(answer?.status).toBe(413);
  expect(JSON.parse(answer?.body ?? '')).toEqual(failed(-32600));
});

test('[RPC-2] 60 MiB that are sent all the same are refused, and the next request is answered', async () => {
  const answer = await send(Buffer.alloc(60 * 1024 * 1024, 0x20), { Connection: 'keep-alive' });
  expect([answer.status, answer.json()]).toEqual([413, failed(-32600)]);
  expect((await send(request(1, LIST))).status).toBe(200);
});

test('[RPC-2] another media type is 415, told as JSON-RPC', async () => {
  const answer = await send(request(1, LIST), { 'Content-Type': 'text/plain' });
  expect([answer.status, answer.json()]).toEqual([415, failed(-32600)]);
});

/** A body that is above what is parsed in place. */
const large = (end: string) =>
  `{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"create_task","arguments":{"content":"c"},"pad":"${'é'.repeat(200_000)}"}${end}`;

test('[RPC-1] a body above 256 KiB is parsed in the pool and answered the same', async () => {
  expect((await send(large('}'))).json()).toMatchObject({
    id: 'big',
    result: { structuredContent: { task: { content: 'c' } } },
  });
  const batch = await send(`[${large('}')},1]`);
  expect((batch.json() as unknown as RpcReply[]).map(({ id }) => String(id)).sort()).toEqual(['big', 'null']);
});

test('[RPC-2] a wrong body above 256 KiB is refused the same', async () => {
  expect((await send(large(''))).json()).toEqual(failed(-32700));
  const bytes = Buffer.from(large('}'));
  bytes[bytes.length - 10] = 0xff;
  expect((await send(bytes)).json()).toEqual(failed(-32700));
  const deep = `${'['.repeat(300_000)}${']'.repeat(300_000)}`;
  expect((await send(deep)).json()).toEqual(failed(-32700));
  expect((await send(`"${'x'.repeat(300_000)}"`)).json()).toEqual(failed(-32600));
});

test('[RPC-2] of duplicate keys the last counts', async () => {
  expect((await send('{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"tools/list"}')).json()).toMatchObject({
    id: 2,
    result: {},
  });
});

test('[RPC-5] with Accept: application/x-ndjson a single result is one line', async () => {
  for (const accept of [NDJSON, `application/json;q=0.5, ${NDJSON.toUpperCase()}`]) {
    const answer = await send(request(5, LIST), { Accept: accept });
    expect(answer.headers['content-type']).toBe(NDJSON);
    expect(linesOf(answer)).toEqual([{ jsonrpc: '2.0', id: 5, result: { tools: expect.any(Array) } }]);
  }
  const refused = await send(request(6, 'nope'), { Accept: NDJSON });
  expect(linesOf(refused)).toEqual([failed(-32601, 6)]);
});

test('[RPC-8] every success holds an object, and a text that stays bounded however large the data', async () => {
  const content = 'long '.repeat(1900);
  for (let n = 0; n < 40; n += 1) await callTool(hub, 'create_task', { content }, owner.mcp_key);
  const reply = await callTool(hub, 'list_tasks', { limit: 500 }, owner.mcp_key);
  expect(JSON.stringify(structuredOf(reply)).length).toBeGreaterThan(300_000);
  expect(Buffer.byteLength(textOf(reply))).toBeLessThan(66_000);
  expect(textOf(reply)).toMatch(/task/);
});

test('[RPC-7] without Authorization the listing, the handshake and the onboarding tools answer', async () => {
  const open = [request(1, LIST), request(1, 'initialize', {}), request(1, 'ping'), toolRequest(1, 'get_setup_guide')];
  for (const body of open) {
    const answer = await post(hub, body);
    expect([answer.status, answer.json()]).toMatchObject([200, { id: 1, result: {} }]);
  }
});

test('[RPC-7] without Authorization another tool is HTTP 401 with a JSON-RPC error', async () => {
  const answer = await post(hub, toolRequest(3, 'list_tasks'));
  expect(answer.status).toBe(401);
  expect(answer.json()).toEqual(failed(-32001, 3));
  expect(answer.headers['www-authenticate']).toMatch(/^McpKey/);
  expect(replyOf(answer).error?.message).toMatch(/McpKey.*signup_and_get_key/);
  const asLines = await post(hub, toolRequest(3, 'list_tasks'), { Accept: NDJSON });
  expect([asLines.status, asLines.json()]).toEqual([401, failed(-32001, 3)]);
});

test('[RPC-7] in a batch a missing credential is that item’s error', async () => {
  const answer = await post(hub, [toolRequest(1, 'list_tasks'), request(2, LIST), toolRequest(3, 'get_setup_guide')]);
  expect(answer.status).toBe(200);
  const byId = new Map((answer.json() as unknown as RpcReply[]).map((reply) => [reply.id, reply]));
  expect(byId.get(1)).toEqual(failed(-32001, 1));
  expect([byId.get(2)?.error, byId.get(3)?.error]).toEqual([undefined, undefined]);
});

test('[RPC-7] a wrong credential is 401 for everything', async () => {
  const everything = [request(1, LIST), request(1, 'initialize', {}), toolRequest(1, 'get_setup_guide'), [1], '{', ''];
  for (const body of everything) {
    const answer = await post(hub, body, withKey('0'.repeat(64)));
    expect([answer.status, answer.json()]).toEqual([401, failed(-32001)]);
    expect(answer.headers['www-authenticate']).toMatch(/^McpKey/);
  }
});

test('[RPC-7] an empty Authorization header is a wrong credential, not a missing one', async () => {
  expect((await post(hub, request(1, LIST), { Authorization: '' })).status).toBe(401);
  expect((await call(hub, '/api/mcp', { method: 'POST', headers: { Authorization: 'McpKey' } })).status).toBe(401);
});

test('[RPC-2] an integer above 2^53 comes back as it was written, alone and in a batch', async () => {
  const message = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"no"}}`;
  const ids = ['9007199254740993', '-9007199254740995', '123456789012345678901234567890'];
  for (const id of ids) expect((await send(message(id))).text).toContain(`"id":${id},`);
  const batch = await send(`[${[...ids, '7', '"a"'].map(message).join(',')}]`);
  for (const id of [...ids, '7', '"a"']) expect(batch.text).toContain(`"id":${id},`);
});

test('[RPC-2] an unknown method is unknown whatever its params, and empty params count as none', async () => {
  expect((await send({ ...request(1, 'no/such'), params: [1] })).json()).toMatchObject({ error: { code: -32601 } });
  expect((await send({ ...request(2, LIST), params: [] })).json()).toHaveProperty('result.tools');
  expect((await send({ ...request(3, LIST), params: [1] })).json()).toMatchObject({ error: { code: -32602 } });
});

test('[RPC-2] a cursor of tools/list is one that was given, and none is', async () => {
  const answer = await send(request(1, LIST, { cursor: 'made-up' }));
  expect(answer.json()).toMatchObject({ error: { code: -32602, data: { field: 'cursor' } } });
});

test('[KEY-3] the scheme Bearer is read in any case, McpKey as it is written', async () => {
  const token = await accessToken(hub, owner.email);
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const answer = await post(hub, toolRequest(1, 'list_tasks'), { Authorization: `${scheme} ${token}` });
    expect(answer.status).toBe(200);
  }
  expect((await post(hub, request(1, LIST), { Authorization: `mcpkey ${owner.mcp_key}` })).status).toBe(401);
});
