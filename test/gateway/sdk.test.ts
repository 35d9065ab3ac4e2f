/** Real MCP clients against a running hub: the official TypeScript SDK, first and second generation, in every mode. */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { GATEWAY, PASSWORD, textOf } from '../support/gateway.ts';
import type { Hub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

interface CallResult {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}

/** What the tests use of either client. */
interface Session {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(name: string, args?: Record<string, unknown>): Promise<CallResult>;
  version(): string | undefined;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

type Connect = (hub: Hub, key?: string) => Promise<Session>;

const open: Session[] = [];
const hub = useHub({ loudest: 40 });
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((session) => session.close()));
});

const target = ({ url }: Hub) => new URL(`${url}${GATEWAY}`);
const withHeaders = (key?: string) =>
  key === undefined ? {} : { requestInit: { headers: { Authorization: `McpKey ${key}` } } };

const connectV1: Connect = async (to, key) => {
  const client = new ClientV1({ name: 'test', version: '1' });
  const transport = new TransportV1(target(to), withHeaders(key));
  await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
  return {
    listTools: () => client.listTools(),
    callTool: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as CallResult,
    version: () => transport.protocolVersion,
    ping: () => client.ping(),
    close: () => client.close(),
  };
};

function connectV2(mode: VersionNegotiationMode): Connect {
  return async (to, key) => {
    const client = new ClientV2({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new TransportV2(target(to), withHeaders(key)));
    return {
      listTools: () => client.listTools(),
      callTool: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as CallResult,
      version: () => client.getNegotiatedProtocolVersion(),
      ping: () => client.ping(),
      close: () => client.close(),
    };
  };
}

const clients: readonly (readonly [name: string, version: string, connect: Connect])[] = [
  ['v1', '2025-11-25', connectV1],
  ['v2 legacy', '2025-11-25', connectV2('legacy')],
  ['v2 auto', '2026-07-28', connectV2('auto')],
  ['v2 pinned', '2026-07-28', connectV2({ pin: '2026-07-28' })],
];

async function connected(connect: Connect, key?: string): Promise<Session> {
  const session = await connect(hub, key);
  open.push(session);
  return session;
}

const text = (result: CallResult) => textOf({ jsonrpc: '2.0', id: 1, result: { ...result } });

test.each(clients)('[MCP-5] %s connects, speaks %s and lists the tools', async (_, version, connect) => {
  const session = await connected(connect, owner.mcp_key);
  expect(session.version()).toBe(version);
  const { tools } = await session.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['list_tasks', 'signup_and_get_key']));
  expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
});

test.each(clients)(
  '[MCP-5] %s calls tools, and finds their results true to the schemas',
  async (_name, _v, connect) => {
    const session = await connected(connect, owner.mcp_key);
    // The client checks a result against the output schema of a tool that it has listed.
    await session.listTools();
    const made = await session.callTool('create_task', { content: 'from the SDK', due_date: '2026-12-01' });
    const task = made.structuredContent?.['task'] as { id: number; content: string };
    expect([made.isError ?? false, task.content]).toEqual([false, 'from the SDK']);
    const updated = await session.callTool('update_task', { id: task.id, completed: true });
    expect(updated.structuredContent).toMatchObject({ task: { id: task.id, kanban_status: 'done' } });
    const listed = await session.callTool('list_tasks', { search: 'from the SDK' });
    expect(listed.structuredContent).toMatchObject({ complete: true });
    expect((await session.callTool('delete_task', { id: task.id })).structuredContent).toMatchObject({ id: task.id });
    expect((await session.callTool('list_categories')).structuredContent).toEqual({ categories: [] });
    expect((await session.callTool('get_setup_guide')).structuredContent).toMatchObject({
      url: `${hub.url}${GATEWAY}`,
    });
  },
);

test.each(clients)('[MCP-3, MCP-5] %s is told refusals as results with isError', async (_name, _v, connect) => {
  const session = await connected(connect, owner.mcp_key);
  await session.listTools();
  const invalid = await session.callTool('create_task', { content: 'x', due_dat: '2026-12-01' });
  expect([invalid.isError, text(invalid)]).toEqual([true, expect.stringContaining('did you mean due_date')]);
  const missing = await session.callTool('delete_task', { id: 404_404 });
  expect([missing.isError, text(missing)]).toEqual([true, expect.stringContaining('task')]);
});

test.each(clients)('[MCP-5] %s sees an unknown tool as error -32602', async (_name, _v, connect) => {
  const session = await connected(connect, owner.mcp_key);
  await expect(session.callTool('no_such_tool')).rejects.toMatchObject({ code: -32602 });
});

test.each(clients)('[MCP-5] %s with a wrong key is refused and does not fall back', async (_name, _v, connect) => {
  await expect(connect(hub, '0'.repeat(64))).rejects.toThrow(/401|unauthorized|credential|no longer valid/i);
});

test.each(clients)(
  '[MCP-5, ONB-1] %s signs up without a key and connects with the new one',
  async (name, _v, connect) => {
    const stranger = await connected(connect);
    await stranger.listTools();
    const email = `${name.replace(' ', '-')}@example.org`;
    const made = await stranger.callTool('signup_and_get_key', { email, password: PASSWORD });
    const key = made.structuredContent?.['mcp_key'] as string;
    expect(text(made)).toContain(key);
    await expect(stranger.callTool('list_tasks')).rejects.toThrow(/401|key/i);
    const owned = await connected(connect, key);
    expect((await owned.callTool('list_tasks')).structuredContent).toMatchObject({ count: 0 });
  },
);

test.each(clients.slice(0, 2))('[MCP-1, MCP-5] %s pings', async (_name, _v, connect) => {
  await expect((await connected(connect, owner.mcp_key)).ping()).resolves.toBeDefined();
});

test.each(clients)(
  '[MCP-5] %s makes 40 calls at once, each answered with its own result',
  async (_name, _v, connect) => {
    const session = await connected(connect, owner.mcp_key);
    const contents = Array.from({ length: 40 }, (_, n) => `call ${n}`);
    const results = await Promise.all(contents.map((content) => session.callTool('create_task', { content })));
    expect(results.map((result) => result.structuredContent?.['task'])).toMatchObject(
      contents.map((content) => ({ content })),
    );
  },
);
