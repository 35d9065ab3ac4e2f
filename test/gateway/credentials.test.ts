/** One table of who may enter where: every surface against every kind of credential, right and wrong. */
import { beforeAll, expect, test } from 'vitest';
import { accessToken, mirrorTool, post, request, structured, toolRequest } from '../support/gateway.ts';
import { type Answer, call } from '../support/http.ts';
import { type Account, account, type Credential, credential } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

type Enter = (authorization: string | undefined) => Promise<Answer>;

const hub = useHub({ loudest: 40 });
let owner: Account & Credential;
let other: Account;
const values = new Map<string, string | undefined>();

beforeAll(async () => {
  const made = await account(hub);
  owner = { ...made, ...(await credential(hub, made.mcp_key)) };
  other = await account(hub);
  await structured(hub, 'create_task', { content: 'of the owner' }, owner.mcp_key);
  const token = await accessToken(hub, owner.email);
  const lastChanged = (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'Q' : 'A');
  for (const [name, value] of Object.entries({
    none: undefined,
    'MCP key': `McpKey ${owner.mcp_key}`,
    'account key': `McpKey ${owner.account_key}`,
    'access token': `Bearer ${token}`,
    'mirror token': `McpKey ${owner.token}`,
    'revoked MCP key': `McpKey ${await revokedKey()}`,
    'key of another account': `McpKey ${other.mcp_key}`,
    'Bearer MCP key': `Bearer ${owner.mcp_key}`,
    'Bearer mirror token': `Bearer ${owner.token}`,
    'McpKey access token': `McpKey ${token}`,
    garbage: 'McpKey garbage',
    'Bearer garbage': 'Bearer garbage',
    'wrong scheme': `Basic ${Buffer.from(`x:${owner.mcp_key}`).toString('base64')}`,
    'bad checksum': `Bearer ${lastChanged(token)}`,
    'key alone': owner.mcp_key,
  })) {
    values.set(name, value);
  }
});

async function revokedKey(): Promise<string> {
  const made = await hub.cli('key', 'create', '--email', owner.email, '--name', 'lost', '--json');
  const key = JSON.parse(made.stdout) as { key_id: string; mcp_key: string };
  const revoked = await hub.cli('key', 'revoke', '--email', owner.email, '--id', key.key_id);
  if (revoked.code !== 0) throw new Error(revoked.stderr);
  return key.mcp_key;
}

const json = (authorization: string | undefined) => ({
  Authorization: authorization,
  'Content-Type': 'application/json',
});
const headers = (authorization: string | undefined) => ({ headers: { Authorization: authorization } });

const surfaces: Readonly<Record<string, Enter>> = {
  'gateway call': (value) => post(hub, toolRequest(1, 'list_tasks'), { Authorization: value }),
  'gateway list': (value) => post(hub, request(1, 'tools/list'), { Authorization: value }),
  'mirror account tool': (value) => mirrorTool(hub, 'list_tasks', {}, { Authorization: value }),
  'mirror open tool': (value) => mirrorTool(hub, 'get_setup_guide', {}, { Authorization: value }),
  tasks: (value) => call(hub, '/api/tasks', headers(value)),
  categories: (value) => call(hub, '/api/categories', headers(value)),
  'credential issue': (value) =>
    call(hub, '/api/cert_mirror/credentials', { method: 'POST', headers: json(value), body: '{}' }),
  'mirror list': (value) => call(hub, '/api/cert_mirror', headers(value)),
};

/** Who enters where; everyone else is 401. */
const admitted: Readonly<Record<string, readonly string[]>> = {
  'gateway call': ['MCP key', 'account key', 'access token', 'key of another account'],
  'gateway list': ['none', 'MCP key', 'account key', 'access token', 'key of another account'],
  'mirror account tool': ['MCP key', 'account key', 'access token', 'key of another account'],
  'mirror open tool': ['none', 'MCP key', 'account key', 'access token', 'key of another account'],
  tasks: ['access token'],
  categories: ['access token'],
  'credential issue': ['MCP key', 'account key', 'key of another account'],
  'mirror list': ['mirror token'],
};

test.each(Object.keys(surfaces))(
  '[KEY-1, KEY-2, KEY-3, KEY-4] %s admits exactly its own credentials',
  async (surface) => {
    const found: Record<string, number> = {};
    const expected: Record<string, number> = {};
    for (const [name, value] of values) {
      const answer = await surfaces[surface]?.(value);
      found[name] = answer?.status ?? 0;
      expected[name] = admitted[surface]?.includes(name) === true ? 200 : 401;
    }
    expect(found).toEqual(expected);
  },
);

test.each(Object.keys(surfaces))(
  '[KEY-4, NET-5] a refusal of %s names its scheme and says what to send',
  async (surface) => {
    const scheme = ['tasks', 'categories'].includes(surface) ? 'Bearer' : 'McpKey';
    for (const [name, value] of values) {
      if (admitted[surface]?.includes(name) === true) continue;
      const answer = await surfaces[surface]?.(value);
      expect([name, answer?.headers['www-authenticate']?.split(' ')[0]]).toEqual([name, scheme]);
      expect(answer?.json()['error']).toBeDefined();
      if (!surface.startsWith('gateway')) expect(answer?.json()['error']).toEqual(expect.stringContaining(scheme));
      const secrets = [owner.mcp_key, owner.account_key, owner.token, value?.split(' ')[1] ?? 'none'];
      expect(secrets.filter((secret) => secret.length > 10 && answer?.text.includes(secret))).toEqual([]);
    }
  },
);

test('[KEY-8] a key of another account sees and changes nothing of the owner’s', async () => {
  const key = other.mcp_key;
  expect(await structured(hub, 'list_tasks', {}, key)).toMatchObject({ count: 0 });
  const foreign = await mirrorTool(hub, 'delete_task', { id: 1 }, { Authorization: `McpKey ${key}` });
  const unknown = await mirrorTool(hub, 'delete_task', { id: 99 }, { Authorization: `McpKey ${key}` });
  expect([foreign.status, unknown.status]).toEqual([404, 404]);
  expect(foreign.text.replaceAll('1', 'N')).toBe(unknown.text.replaceAll('99', 'N'));
  const mine = await structured(hub, 'list_tasks', {}, owner.mcp_key);
  expect(mine).toMatchObject({ count: 1, tasks: [{ content: 'of the owner' }] });
});

test('[KEY-4] refused calls change nothing', async () => {
  const create = { content: 'never' };
  for (const [name, value] of values) {
    if (admitted['gateway call']?.includes(name) === true) continue;
    const single = await post(hub, toolRequest(1, 'create_task', create), { Authorization: value });
    const mirrored = await mirrorTool(hub, 'create_task', create, { Authorization: value });
    await post(hub, [toolRequest(1, 'create_task', create)], { Authorization: value });
    expect([name, single.status, mirrored.status]).toEqual([name, 401, 401]);
  }
  for (const key of [owner.mcp_key, other.mcp_key]) {
    expect(await structured(hub, 'list_tasks', { search: 'never' }, key)).toMatchObject({ count: 0 });
  }
  const again = await surfaces['credential issue']?.(`McpKey ${owner.mcp_key}`);
  expect(again?.json()).toMatchObject({ status: 'existing', token: owner.token });
});
