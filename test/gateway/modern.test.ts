/** Revision 2026-07-28 by plain HTTP: no handshake, a body that says its version, headers that repeat parts of it. */
import { beforeAll, expect, test } from 'vitest';
import { MODERN, modern, post, replyOf, request, textOf, toolRequest, withKey } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const SERVER = 'io.modelcontextprotocol/serverInfo';
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const hub = useHub({ loudest: 40 });
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

/** Sends a correct message; `headers` override or, as undefined, leave out. */
function send(method: string, params: Record<string, unknown> = {}, headers: Record<string, string | undefined> = {}) {
  const message = modern(method, params);
  return post(hub, message.body, { ...withKey(owner.mcp_key), ...message.headers, ...headers });
}

const callParams = (name: string, args: unknown = {}) => ({ name, arguments: args });
const codeOf = (answer: Awaited<ReturnType<typeof send>>) => [answer.status, replyOf(answer).error?.code];

test('[MCP-2] server/discover says what is spoken, with and without a key', async () => {
  for (const headers of [{}, { Authorization: undefined }]) {
    const answer = await send('server/discover', {}, headers);
    expect(answer.status).toBe(200);
    expect(replyOf(answer).result).toMatchObject({
      resultType: 'complete',
      supportedVersions: expect.arrayContaining([MODERN]),
      capabilities: {
        tools: {},
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
      },
      ttlMs: expect.any(Number),
      cacheScope: expect.stringMatching(/^(public|private)$/),
      _meta: { [SERVER]: { name: 'cairn', version: expect.any(String) } },
    });
  }
});

test('[MCP-2] tools/list carries how long and by whom it may be kept', async () => {
  const { result } = replyOf(await send('tools/list'));
  expect(result).toMatchObject({ resultType: 'complete', tools: expect.any(Array), cacheScope: 'private' });
  expect(result?.['ttlMs']).toBeGreaterThanOrEqual(0);
});

test('[MCP-2] a call answers a complete result', async () => {
  const { result } = replyOf(await send('tools/call', callParams('create_task', { content: 'modern' })));
  expect(result).toMatchObject({
    resultType: 'complete',
    structuredContent: { task: { content: 'modern' } },
    content: [{ type: 'text', text: expect.stringContaining('modern') }],
  });
  expect(result?.['isError']).toBeUndefined();
});

test.each([
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
  ['prompts/list', 'prompts'],
])('[MCP-2] %s says that it is complete and how long it may be kept', async (method, field) => {
  const { result } = replyOf(await send(method));
  expect(result).toMatchObject({
    [field]: expect.any(Array),
    resultType: 'complete',
    cacheScope: expect.stringMatching(/^(public|private)$/),
    ttlMs: expect.any(Number),
  });
});

test.each(['initialize', 'ping', 'logging/setLevel', 'nope', 'tools/unlist'])(
  '[MCP-2] %s is HTTP 404 with -32601',
  async (method) => {
    expect(codeOf(await send(method))).toEqual([404, -32601]);
  },
);

const wrongHeaders: readonly (readonly [string, Record<string, string | undefined>])[] = [
  ['no MCP-Protocol-Version', { 'MCP-Protocol-Version': undefined }],
  ['another known MCP-Protocol-Version', { 'MCP-Protocol-Version': '2025-11-25' }],
  ['no Mcp-Method', { 'Mcp-Method': undefined }],
  ['another Mcp-Method', { 'Mcp-Method': 'tools/list' }],
  ['an Mcp-Method in capitals', { 'Mcp-Method': 'TOOLS/CALL' }],
  ['no Mcp-Name', { 'Mcp-Name': undefined }],
  ['another Mcp-Name', { 'Mcp-Name': 'create_task' }],
  ['an Mcp-Name in capitals', { 'Mcp-Name': 'LIST_TASKS' }],
  ['an encoded other Mcp-Name', { 'Mcp-Name': `=?base64?${Buffer.from('create_task').toString('base64')}?=` }],
];

test.each(wrongHeaders)('[MCP-2] a call with %s is 400 with -32020', async (_, headers) => {
  const answer = await send('tools/call', callParams('list_tasks'), headers);
  expect(codeOf(answer)).toEqual([400, -32020]);
  expect(replyOf(answer).id).toBe(1);
});

test('[MCP-2] an encoded Mcp-Name is decoded', async () => {
  const encoded = `=?base64?${Buffer.from('list_tasks').toString('base64')}?=`;
  const answer = await send('tools/call', callParams('list_tasks'), { 'Mcp-Name': encoded });
  expect([answer.status, replyOf(answer).error]).toEqual([200, undefined]);
  const foreign = `=?base64?${Buffer.from('목록').toString('base64')}?=`;
  expect(codeOf(await send('tools/call', callParams('목록'), { 'Mcp-Name': foreign }))).toEqual([200, -32602]);
});

test('[MCP-2] header names are read in any case', async () => {
  const { body } = modern('tools/list');
  const answer = await post(hub, body, { 'mcp-PROTOCOL-version': MODERN, 'MCP-METHOD': 'tools/list' });
  expect([answer.status, replyOf(answer).error]).toEqual([200, undefined]);
});

test('[MCP-2] a version that is not spoken is 400 with -32022 and those that are', async () => {
  const version = '2027-01-01';
  const body = request(1, 'tools/list', { _meta: { [VERSION]: version, [CAPABILITIES]: {} } });
  for (const headers of [{ 'MCP-Protocol-Version': version, 'Mcp-Method': 'tools/list' }, {}]) {
    const answer = await post(hub, body, headers);
    expect(codeOf(answer)).toEqual([400, -32022]);
    expect(replyOf(answer).error?.data?.['supported']).toEqual(expect.arrayContaining([MODERN, '2025-11-25']));
  }
});

const metas: readonly (readonly [string, unknown])[] = [
  ['no _meta', undefined],
  ['an empty _meta', {}],
  ['a _meta of null', null],
  ['no protocolVersion', { [CAPABILITIES]: {} }],
  ['no clientCapabilities', { [VERSION]: MODERN }],
  ['clientCapabilities of null', { [VERSION]: MODERN, [CAPABILITIES]: null }],
  ['clientCapabilities that are a string', { [VERSION]: MODERN, [CAPABILITIES]: 'all' }],
];

test.each(metas)('[MCP-2] with %s a message is 400 with -32602', async (_, meta) => {
  const headers = { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'tools/list' };
  const params = meta === undefined ? undefined : { _meta: meta };
  expect(codeOf(await post(hub, request(1, 'tools/list', params), headers))).toEqual([400, -32602]);
});

test('[MCP-2] a batch is no message of this revision', async () => {
  const { body, headers } = modern('tools/list');
  const answer = await post(hub, [body], { 'MCP-Protocol-Version': MODERN, ...headers });
  expect(codeOf(answer)).toEqual([400, -32600]);
});

test('[MCP-2] within a plain batch an item of this revision is refused, the others are answered', async () => {
  const answer = await post(hub, [modern('tools/list', {}, 'new').body, request('old', 'ping')]);
  const replies = answer.json() as unknown as { id: string; error?: { code: number } }[];
  const codes = replies.map(({ id, error }) => `${id} ${error?.code ?? 0}`);
  expect(codes.sort()).toEqual(['new -32020', 'old 0']);
});

test.each([
  ['an invalid argument', 'create_task', { content: '' }, /content/],
  ['an unknown argument', 'list_tasks', { limt: 1 }, /did you mean limit/],
  ['a task that is not there', 'update_task', { id: 404, content: 'x' }, /task/],
] as const)('[MCP-3] %s is a complete result with isError', async (_, name, args, text) => {
  const answer = await send('tools/call', callParams(name, args));
  expect(answer.status).toBe(200);
  expect(replyOf(answer).result).toMatchObject({ isError: true, resultType: 'complete' });
  expect(replyOf(answer).result?.['structuredContent']).toBeUndefined();
  expect(textOf(replyOf(answer))).toMatch(text);
});

test('[MCP-3] an unknown tool stays -32602', async () => {
  expect(codeOf(await send('tools/call', callParams('creat_task')))).toEqual([200, -32602]);
});

test('[RPC-7] a missing key is 401 for a call, a wrong one for everything', async () => {
  expect(codeOf(await send('tools/call', callParams('list_tasks'), { Authorization: undefined }))).toEqual([
    401, -31001,
  ]);
  for (const method of ['server/discover', 'tools/list']) {
    const answer = await send(method, {}, withKey('f'.repeat(64)));
    expect(codeOf(answer)).toEqual([401, -31001]);
  }
});

test('[MCP-2] the revision is told by _meta as well, so a bare message beside it stays bare', async () => {
  const bare = replyOf(await post(hub, request(1, 'tools/list', { _meta: { progressToken: 1 } })));
  expect(bare.result).toEqual({ tools: expect.any(Array) });
  const refused = replyOf(await post(hub, toolRequest(1, 'get_setup_guide', { client: 'emacs' })));
  expect(refused.error).toMatchObject({ code: -32602, data: { field: 'client' } });
});

test('[MCP-1] a notification is 202', async () => {
  const headers = { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'notifications/cancelled' };
  const { body } = modern('notifications/cancelled', { requestId: 1 });
  const { id: _, ...notification } = body;
  const answer = await post(hub, notification, headers);
  expect([answer.status, answer.text]).toEqual([202, '']);
});

test('[MCP-2] our own codes lie outside the range that the revision keeps to itself', async () => {
  const call = { Authorization: undefined };
  expect(codeOf(await send('tools/call', callParams('list_tasks'), call))).toEqual([401, -31_001]);
  expect(codeOf(await send('tools/list', {}, { Authorization: 'McpKey wrong' }))).toEqual([401, -31_001]);
  expect(codeOf(await send('tools/call', callParams('no_such')))).toEqual([200, -32_602]);
});

test('[MCP-2] an id that is null or a fraction is -32600, and the answer has no id', async () => {
  for (const id of [null, 1.5]) {
    const message = modern('tools/list', {});
    const answer = await post(hub, { ...message.body, id }, { ...withKey(owner.mcp_key), ...message.headers });
    expect(codeOf(answer)).toEqual([400, -32_600]);
    expect(answer.json()).not.toHaveProperty('id');
  }
});

test('[MCP-2] a version that is not spoken is told with those that are', async () => {
  const answer = await send('tools/list', {}, { 'MCP-Protocol-Version': '2099-01-01' });
  expect(replyOf(answer).error).toMatchObject({
    code: -32_022,
    data: { requested: '2099-01-01', supported: expect.arrayContaining([MODERN, '2025-11-25', '2024-11-05']) },
  });
});
