/** cairn mcp: an MCP client that starts processes works with a hub, and is told what is wrong when it cannot. */

import { spawn } from 'node:child_process';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { beforeAll, expect, test } from 'vitest';
import { request, toolRequest } from '../support/gateway.ts';
import { CAIRN } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const startOf = (env: Record<string, string | undefined> = {}) => ({
  command: process.execPath,
  args: [CAIRN, 'mcp', '--server', hub.url],
  env: given({ PATH: process.env['PATH'], CAIRN_KEY: owner.mcp_key, ...env }),
});

/** Without what is undefined. */
function given(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((one): one is [string, string] => one[1] !== undefined));
}

interface Ended {
  readonly code: number | null;
  readonly replies: readonly Record<string, unknown>[];
  readonly stdout: string;
  readonly stderr: string;
}

/** Sends lines, closes the input, and waits for the end. */
async function converse(
  lines: readonly string[],
  env: Record<string, string | undefined> = {},
  server = hub.url,
): Promise<Ended> {
  const { command, args, env: all } = startOf(env);
  const child = spawn(command, [...args.slice(0, -1), server], { env: all });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part: Buffer) => {
    stdout += part.toString('utf8');
  });
  child.stderr.on('data', (part: Buffer) => {
    stderr += part.toString('utf8');
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const code = await new Promise<number | null>((ended) => child.on('close', ended));
  const replies = stdout.split('\n').filter((line) => line !== '');
  return { code, stdout, stderr, replies: replies.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const json = (value: unknown) => JSON.stringify(value);

test('[OAUTH-6, MCP-5] the SDK v1 connects over standard input and output, lists and calls', async () => {
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(new StdioClientTransport(startOf()));
  expect(client.getServerVersion()?.name).toBe('cairn');
  expect((await client.listTools()).tools.length).toBeGreaterThan(20);
  const made = await client.callTool({ name: 'create_task', arguments: { content: 'through the bridge' } });
  expect(JSON.stringify(made.content)).toContain('through the bridge');
  await client.close();
});

test('[OAUTH-6, MCP-5] the SDK v2 does as well', async () => {
  const client = new NewClient({ name: 'v2', version: '1' });
  await client.connect(new NewTransport(startOf()));
  expect((await client.listTools()).tools.length).toBeGreaterThan(20);
  await client.close();
});

test('[OAUTH-6] every request is answered before the bridge ends, notifications are not, and ids stay as they are', async () => {
  const initialize = request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} });
  const lines = [
    json(initialize),
    json({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    '',
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}',
    json(toolRequest('a', 'list_tasks')),
    json(toolRequest('b', 'no_such_tool')),
  ];
  const { code, replies, stdout, stderr } = await converse(lines);
  expect([code, stderr]).toEqual([0, '']);
  expect(replies).toHaveLength(4);
  expect(stdout).toContain('"id":9007199254740993,');
  expect(replies.find(({ id }) => id === 'a')).toHaveProperty('result');
  expect(replies.find(({ id }) => id === 'b')).toHaveProperty('error.code', -32602);
});

test('[OAUTH-6] what cannot be delivered is an error of its own request, with a sentence that says what to do', async () => {
  const { code, replies, stderr } = await converse(
    ['not json', json(request(1, 'tools/list')), json({ jsonrpc: '2.0', method: 'notifications/initialized' })],
    {},
    'http://127.0.0.1:9',
  );
  expect(code).toBe(0);
  expect(replies).toEqual([
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: expect.any(String) } },
    { jsonrpc: '2.0', id: 1, error: { code: -32603, message: expect.stringContaining('cannot connect to') } },
  ]);
  expect(stderr).toContain('cannot connect to');
});

test('[OAUTH-6] a wrong key is told for each request, and no key at all before the first', async () => {
  const wrong = await converse([json(request(1, 'tools/list'))], { CAIRN_KEY: 'f'.repeat(64) });
  // Of what the person has, not of a header that this bridge sends.
  const mend = /does not accept this key or sign-in\. Correct or unset CAIRN_KEY, or run `cairn login/;
  expect(wrong.replies).toMatchObject([{ id: 1, error: { message: expect.stringMatching(mend) } }]);
  const none = await converse([json(request(1, 'tools/list'))], { CAIRN_KEY: undefined, HOME: hub.dataFolder });
  expect([none.code, none.replies]).toEqual([1, []]);
  expect(none.stderr).toContain('cairn login');
});
