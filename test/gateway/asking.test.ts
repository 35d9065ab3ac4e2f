/** Questions before what cannot be undone: with the official clients, and with messages that no honest client sends. */
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, expect, test } from 'vitest';
import {
  GATEWAY,
  modern,
  post,
  replyOf,
  request,
  structured,
  textOf,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { sha256Of } from '../support/sync.ts';
import { useHub } from '../support/use-hub.ts';

type Action = 'accept' | 'decline' | 'cancel';
type Result = { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] };
type Caller = { readonly call: (name: string, args: object) => Promise<Result>; readonly close: () => Promise<void> };
type Connect = (answer: (message: string) => Promise<Action> | Action) => Promise<Caller>;

const hub = useHub({ loudest: 40 });
let owner: Account;
let names = 0;

beforeAll(async () => {
  owner = await account(hub);
});

const target = () => new URL(`${hub.url}${GATEWAY}`);
const options = () => ({ requestInit: { headers: { Authorization: `McpKey ${owner.mcp_key}` } } });
const capabilities = { elicitation: { form: {} } };
const info = { name: 'test', version: '1' };

const connectV1: Connect = async (answer) => {
  const client = new ClientV1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    const action = await answer(params.message);
    return action === 'accept' ? { action, content: {} } : { action };
  });
  await client.connect(new TransportV1(target(), options()) as unknown as Parameters<typeof client.connect>[0]);
  return {
    call: async (name, args) => (await client.callTool({ name, arguments: { ...args } })) as Result,
    close: () => client.close(),
  };
};

const connectV2 =
  (mode: 'legacy' | 'auto'): Connect =>
  async (answer) => {
    const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const action = await answer(params.message);
      return action === 'accept' ? { action, content: {} } : { action };
    });
    await client.connect(new TransportV2(target(), options()));
    return {
      call: async (name, args) => (await client.callTool({ name, arguments: { ...args } })) as Result,
      close: () => client.close(),
    };
  };

const CLIENTS: readonly [string, Connect][] = [
  ['SDK v1 (2025-11-25)', connectV1],
  ['SDK v2, legacy (2025-11-25)', connectV2('legacy')],
  ['SDK v2, auto (2026-07-28)', connectV2('auto')],
];

async function newVault(): Promise<{ readonly id: string; readonly name: string }> {
  names += 1;
  const name = `vault ${names}`;
  const { vault_id: id } = await structured<{ vault_id: string }>(hub, 'vault_create', { name }, owner.mcp_key);
  return { id, name };
}

async function hasVault(id: string): Promise<boolean> {
  const { vaults } = await structured<{ vaults: { vault_id: string }[] }>(hub, 'vault_list', {}, owner.mcp_key);
  return vaults.some(({ vault_id }) => vault_id === id);
}

test.each(CLIENTS)('[MCP-9] %s: a vault is deleted for good only when the person accepts', async (_name, connect) => {
  const asked: string[] = [];
  let action: Action = 'decline';
  const client = await connect((message) => {
    asked.push(message);
    return action;
  });
  const { id, name } = await newVault();
  const args = { vault_id: id, confirm: name };
  for (const no of ['decline', 'cancel'] as const) {
    action = no;
    const refused = await client.call('vault_delete', args);
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('nothing was changed') }],
    });
    expect(await hasVault(id)).toBe(true);
  }
  // What is refused anyway is not asked about.
  expect(await client.call('vault_delete', { ...args, confirm: 'other' })).toMatchObject({ isError: true });
  expect(asked).toHaveLength(2);
  action = 'accept';
  expect((await client.call('vault_delete', args)).isError).not.toBe(true);
  expect(await hasVault(id)).toBe(false);
  expect(asked).toEqual(Array(3).fill(expect.stringContaining(`"${name}" with 0 files`)));
  await client.close();
});

test.each(CLIENTS)('[MCP-9] %s: what goes to the trash is not asked about', async (_name, connect) => {
  const asked: string[] = [];
  const client = await connect((message) => {
    asked.push(message);
    return 'accept';
  });
  names += 1;
  const key = owner.mcp_key;
  const name = `c ${names}`;
  const { category } = await structured<{ category: { id: number } }>(hub, 'create_category', { name }, key);
  const { task } = await structured<{ task: { id: number } }>(hub, 'create_task', { content: 'x' }, key);
  expect((await client.call('delete_task', { id: task.id })).isError).not.toBe(true);
  expect((await client.call('delete_category', { id: category.id })).isError).not.toBe(true);
  expect(asked).toEqual([]);
  await client.close();
});

test('[MCP-9] clients that offer no form go on as before, in every dialect', async () => {
  const initialize = async (offered: object) => {
    const params = { protocolVersion: '2025-11-25', capabilities: offered, clientInfo: info };
    const { headers } = await post(hub, request(1, 'initialize', params), withKey(owner.mcp_key));
    return { 'Mcp-Session-Id': String(headers['mcp-session-id']), 'MCP-Protocol-Version': '2025-11-25' };
  };
  const ways: (() => Promise<Record<string, string>>)[] = [
    async () => ({}),
    async () => ({ 'MCP-Protocol-Version': '2025-11-25' }),
    async () => await initialize({}),
    async () => await initialize({ elicitation: { url: {} } }),
    // It could be asked, but reads no events.
    async () => ({ ...(await initialize({ elicitation: {} })), Accept: 'application/json' }),
    async () => ({ 'Mcp-Session-Id': 'ask-me', 'MCP-Protocol-Version': '2025-11-25' }),
  ];
  for (const way of ways) {
    const { id, name } = await newVault();
    const headers = { Accept: 'application/json, text/event-stream', ...(await way()), ...withKey(owner.mcp_key) };
    const answer = await post(hub, toolRequest(1, 'vault_delete', { vault_id: id, confirm: name }), headers);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(await hasVault(id)).toBe(false);
  }
  const { id, name } = await newVault();
  const { body, headers } = modern('tools/call', { name: 'vault_delete', arguments: { vault_id: id, confirm: name } });
  expect(replyOf(await post(hub, body, { ...headers, ...withKey(owner.mcp_key) })).result).toMatchObject({
    resultType: 'complete',
  });
  expect(await hasVault(id)).toBe(false);
});

/** A call of revision 2026-07-28 by a client that asks its user. */
async function callModern(args: object, more: object = {}, key = owner.mcp_key) {
  const { body, headers } = modern('tools/call', { name: 'vault_delete', arguments: args, ...more });
  const params = body['params'] as { _meta: Record<string, unknown> };
  params._meta['io.modelcontextprotocol/clientCapabilities'] = { elicitation: {} };
  return replyOf(await post(hub, body, { ...headers, ...withKey(key) }));
}

test('[MCP-9] an answer counts only for the very call that was asked about', async () => {
  const [one, two] = [await newVault(), await newVault()];
  const accepted = { confirmation: { action: 'accept', content: {} } };
  const argsOf = ({ id, name }: typeof one) => ({ vault_id: id, confirm: name });
  const first = await callModern(argsOf(one), { inputResponses: accepted });
  expect(first.result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { confirmation: { method: 'elicitation/create', params: { mode: 'form' } } },
  });
  const requestState = String(first.result?.['requestState']);
  const [untilMs, ...rest] = requestState.split('.');
  for (const [args, state] of [
    [argsOf(two), requestState],
    [argsOf(one), `${requestState}0`],
    [argsOf(one), [String(Number(untilMs) + 1), ...rest].join('.')],
    [argsOf(one), ''],
    [argsOf(one), 'x'.repeat(10_000)],
  ] as const) {
    const { error } = await callModern(args, { inputResponses: accepted, requestState: state });
    expect(error).toMatchObject({ code: -32602, data: { field: 'requestState' } });
  }
  for (const inputResponses of [undefined, null, {}, { other: { action: 'accept' } }]) {
    const again = await callModern(argsOf(one), { inputResponses, requestState });
    expect(again.result).toMatchObject({ resultType: 'input_required' });
  }
  for (const wrong of [{}, 7, { action: 'yes' }, { action: 'decline' }]) {
    const { result } = await callModern(argsOf(one), { inputResponses: { confirmation: wrong }, requestState });
    expect(result).toMatchObject({ isError: true });
  }
  // The person was asked about a vault without files.
  const file = { path: 'a.md', content: 'x', sha256: sha256Of('x'), device_id: 'd', base_sha: '' };
  await structured(hub, 'sync_push', { vault_id: one.id, ...file }, owner.mcp_key);
  const changed = await callModern(argsOf(one), { inputResponses: accepted, requestState });
  expect(changed.result).toMatchObject({ resultType: 'input_required' });
  expect([await hasVault(one.id), await hasVault(two.id)]).toEqual([true, true]);
  const last = String(changed.result?.['requestState']);
  expect((await callModern(argsOf(one), { inputResponses: accepted, requestState: last })).result).toMatchObject({
    resultType: 'complete',
  });
  expect(await hasVault(one.id)).toBe(false);
});

test('[MCP-9] nobody but the asked session answers a question, and a cancelled call deletes nothing', async () => {
  const stranger = await account(hub);
  const { id, name } = await newVault();
  const legacy = { 'MCP-Protocol-Version': '2025-11-25', Accept: 'application/json, text/event-stream' };
  const initialize = async () => {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: info };
    const { headers } = await post(hub, request(1, 'initialize', params), withKey(owner.mcp_key));
    return { ...legacy, 'Mcp-Session-Id': String(headers['mcp-session-id']) };
  };
  const own = await initialize();
  const response = await fetch(target(), {
    method: 'POST',
    headers: { ...own, ...(withKey(owner.mcp_key) as Record<string, string>), 'Content-Type': 'application/json' },
    body: JSON.stringify(toolRequest(9, 'vault_delete', { vault_id: id, confirm: name })),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let seen = '';
  const readUntil = async (wanted: string) => {
    while (!seen.includes(wanted)) {
      const { done, value } = await reader.read();
      if (done) break;
      seen += Buffer.from(value).toString();
    }
  };
  await readUntil('elicitation/create');
  const asked = /"id":"(ask-[0-9a-f-]+)"/.exec(seen)?.[1];
  const accept = { jsonrpc: '2.0', id: asked, result: { action: 'accept', content: {} } };
  for (const headers of [
    { ...own, ...withKey(stranger.mcp_key) },
    { ...(await initialize()), ...withKey(owner.mcp_key) },
    { ...legacy, ...withKey(owner.mcp_key) },
    own,
  ]) {
    expect((await post(hub, accept, headers)).status).toBe(202);
  }
  await post(hub, { ...accept, id: 'ask-0' }, { ...own, ...withKey(owner.mcp_key) });
  expect(await hasVault(id)).toBe(true);
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } };
  expect((await post(hub, cancelled, { ...own, ...withKey(owner.mcp_key) })).status).toBe(202);
  await readUntil('"id":9');
  expect(seen).toContain('"isError":true');
  // Too late.
  await post(hub, accept, { ...own, ...withKey(owner.mcp_key) });
  expect(await hasVault(id)).toBe(true);
  expect(textOf(replyOf(await post(hub, toolRequest(1, 'vault_list'), withKey(owner.mcp_key))))).toContain(name);
});
