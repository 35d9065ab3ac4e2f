/** The User-Agent rule: who is blocked, with what answer, and where the rule does not apply. */
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AGENT, call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { account, credential } from '../../support/mirror.ts';
import { head, rawClient } from '../../support/raw.ts';

const BLOCKED_BODY = '{"error":"Forbidden. Your request has been blocked."}';

/** The list of UA-2, and after each prefix what such a tool sends by default. */
const defaults: readonly (readonly [prefix: string, rest: string])[] = [
  ['curl/', '8.5.0'],
  ['Wget/', '1.21.4'],
  ['HTTPie/', '3.2.2'],
  ['xh/', '0.22.0'],
  ['aria2/', '1.37.0'],
  ['python-requests/', '2.32.0'],
  ['Python-urllib/', '3.12'],
  ['Go-http-client/', '1.1'],
  ['Java/', '21.0.2'],
  ['libwww-perl/', '6.77'],
  ['lwp-request/', '6.57 libwww-perl/6.77'],
  ['PycURL/', '7.45.3 libcurl/8.5.0'],
  ['Ruby', ''],
  ['Faraday', ' v2.9.0'],
  ['rest-client/', '2.1.0 (linux x86_64) ruby/3.2'],
  ['http.rb/', '5.2.0'],
  ['httpx.rb/', '1.2.3'],
  ['HTTPClient/', '1.0 (2.8.3, ruby 3.3.0 (2023-12-25))'],
  ['HTTParty', ''],
  ['Typhoeus', ' - https://github.com/typhoeus/typhoeus'],
  ['excon/', '0.110.0'],
  ['Mechanize/', '2.10.0 Ruby/3.2'],
];

let hub: Hub;
let own: Hub;

beforeAll(async () => {
  [hub, own] = await Promise.all([
    startHub(),
    startHub({ env: { CAIRN_ALLOW_MISSING_AGENT: 'true', CAIRN_BLOCKED_AGENTS: 'BadBot/, other tool ,' } }),
  ]);
});

afterAll(async () => {
  await Promise.all([hub.stop(), own.stop()]);
});

/** An unknown path: 404 shows that the agent passed. */
async function statusFor(at: Hub, agent: string | undefined, path = '/api/nowhere'): Promise<number> {
  return (await call(at, path, { headers: { 'User-Agent': agent } })).status;
}

test('[UA-1] a blocked agent is answered 403 with exactly the body of the specification', async () => {
  const answer = await call(hub, '/api/cert_mirror', { headers: { 'User-Agent': 'curl/8.5.0' } });
  expect(answer.status).toBe(403);
  expect(answer.text).toBe(BLOCKED_BODY);
  expect(answer.headers['content-type']).toContain('application/json');
});

test('[UA-1] a blocked agent is blocked with a valid key too, and an explicit one passes', async () => {
  const owner = await account(hub);
  const { token } = await credential(hub, owner.mcp_key);
  const ask = (agent: string) =>
    call(hub, '/api/cert_mirror', { headers: { 'User-Agent': agent, Authorization: `McpKey ${token}` } });
  expect((await ask('Ruby')).text).toBe(BLOCKED_BODY);
  expect((await ask('backup-tool/1.2')).status).toBe(200);
});

test.each(defaults)('[UA-2] %s%s is blocked by default, in any case', async (prefix, rest) => {
  for (const agent of [prefix, prefix + rest, (prefix + rest).toUpperCase(), (prefix + rest).toLowerCase()]) {
    const answer = await call(hub, '/api/nowhere', { headers: { 'User-Agent': agent } });
    expect([agent, answer.status, answer.text]).toEqual([agent, 403, BLOCKED_BODY]);
  }
});

test.each([
  AGENT,
  'node',
  'undici',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  'cert-mirror/2.0 curl/8.5.0',
  'mycurl/1',
  'JavaScript-client/1',
  'claude-code/1.0',
])('[UA-2] %s is not blocked: only a prefix counts', async (agent) => {
  expect(await statusFor(hub, agent)).toBe(404);
});

test.each([undefined, '', ' ', '\t'])('[UA-3] a User-Agent of %j is blocked', async (agent) => {
  const client = await rawClient(hub.port);
  client.send(head('GET /api/nowhere HTTP/1.1', agent === undefined ? [] : [`User-Agent: ${agent}`], { agent: false }));
  const [answer] = await client.received(1);
  client.vanish();
  expect([answer?.status, answer?.body]).toEqual([403, BLOCKED_BODY]);
});

test('[UA-3] with CAIRN_ALLOW_MISSING_AGENT=true a missing or empty User-Agent passes', async () => {
  expect(await statusFor(own, undefined)).toBe(404);
  expect(await statusFor(own, '')).toBe(404);
});

test('[UA-2] CAIRN_BLOCKED_AGENTS replaces the list', async () => {
  for (const agent of ['BadBot/1', 'badbot/2', 'Other Tool 3']) expect(await statusFor(own, agent)).toBe(403);
  for (const [prefix, rest] of defaults) expect(await statusFor(own, prefix + rest)).toBe(404);
  expect(await statusFor(own, 'BadBot')).toBe(404);
});

test('[UA-2] an empty CAIRN_BLOCKED_AGENTS blocks no name, and still asks for one', async () => {
  const open = await startHub({ env: { CAIRN_BLOCKED_AGENTS: '' } });
  try {
    expect(await statusFor(open, 'curl/8.5.0')).toBe(404);
    expect(await statusFor(open, undefined)).toBe(403);
  } finally {
    await open.stop();
  }
});

test.each([
  ['/health', 200],
  ['/ready', 200],
  ['/metrics', 404],
  ['/.well-known/oauth-authorization-server', 200],
  ['/.well-known/', 404],
  ['/mcp', 401],
  ['/oauth/token', 405],
  ['/oauth/nothing', 404],
])('[UA-3] %s is exempt: a blocked or missing agent gets %i', async (path, status) => {
  expect(await statusFor(hub, 'curl/8.5.0', path)).toBe(status);
  expect(await statusFor(hub, 'Ruby', path)).toBe(status);
  expect(await statusFor(hub, undefined, path)).toBe(status);
});

test('[UA-3, MCP-4] an MCP client without a User-Agent, or with that of a library, calls tools at /mcp', async () => {
  const owner = await account(hub);
  for (const agent of [undefined, '', 'Go-http-client/2.0', 'Faraday v2.9.0', 'python-httpx/0.28']) {
    const answer = await call(hub, '/mcp', {
      method: 'POST',
      headers: { 'User-Agent': agent, Authorization: `McpKey ${owner.mcp_key}`, 'Content-Type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect([agent, answer.status]).toEqual([agent, 200]);
  }
});

test.each([
  '/health/',
  '/healthz',
  '/HEALTH',
  '//health',
  '/ready/x',
  '/metricsx',
  '/.well-known',
  '/x/health',
  '/mcpx',
  '/mcp/x',
  '/oauth',
  '/api/mcp',
])('[UA-3] %s is not exempt', async (path) => {
  const client = await rawClient(hub.port);
  client.send(head(`GET ${path} HTTP/1.1`, ['User-Agent: curl/8.5.0'], { agent: false }));
  expect((await client.received(1))[0]?.status).toBe(403);
  client.vanish();
});

test.each(['/.well-known/../api/cert_mirror', '/.well-known/%2e%2e/api/cert_mirror', '/health?/../api/cert_mirror'])(
  '[UA-3] %s does not lead a blocked agent to a guarded resource',
  async (path) => {
    const client = await rawClient(hub.port);
    client.send(head(`GET ${path} HTTP/1.1`, ['User-Agent: curl/8.5.0'], { agent: false }));
    const [answer] = await client.received(1);
    client.vanish();
    expect(answer?.headers['www-authenticate']).toBeUndefined();
    expect(answer?.body).not.toContain('blobs');
  },
);

function curl(...args: string[]): Promise<{ readonly status: string; readonly body: string }> {
  return new Promise((resolve, reject) => {
    execFile('curl', ['-q', '-sS', '-w', '\n%{http_code}', ...args], (error, stdout) => {
      if (error !== null) {
        reject(error);
        return;
      }
      const at = stdout.lastIndexOf('\n');
      resolve({ status: stdout.slice(at + 1), body: stdout.slice(0, at) });
    });
  });
}

test('[UA-1] curl itself is blocked with its default agent and passes with one of its own', async () => {
  const owner = await account(hub);
  const { token } = await credential(hub, owner.account_key);
  const list = ['-H', `Authorization: McpKey ${token}`, `${hub.url}/api/cert_mirror`];
  expect(await curl(...list)).toEqual({ status: '403', body: BLOCKED_BODY });
  expect(await curl('-H', 'User-Agent:', ...list)).toEqual({ status: '403', body: BLOCKED_BODY });
  expect(await curl('-A', 'backup/1', ...list)).toEqual({ status: '200', body: '{"blobs":[]}' });
  expect((await curl(`${hub.url}/health`)).status).toBe('200');
});
