/** Clients that listen for changes, in both eras: what they are told, what they are not, and where that ends. */
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import {
  callTool,
  GATEWAY,
  modern,
  PASSWORD,
  post,
  replyOf,
  request,
  structured,
  withKey,
} from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { signedUp } from '../support/page-client.ts';
import { type Device, newDevice, sha256Of } from '../support/sync.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
const closing: (() => unknown)[] = [];
let owner: Device;
let vault: string;

beforeAll(async () => {
  owner = await newDevice(hub, 'laptop');
  await owner.push('notes/a.md', 'one\n');
  const { vaults } = await structured<{ vaults: { vault_id: string }[] }>(hub, 'vault_list', {}, owner.key);
  vault = vaults[0]?.vault_id ?? '';
});

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const until = (holds: () => unknown) => vi.waitUntil(async () => await holds(), { timeout: 20_000, interval: 50 });
let standing = 'one\n';
/** Another device writes the file that is watched. */
async function rewrite(device: Device, content: string): Promise<void> {
  await device.push('notes/a.md', content, { base_sha: sha256Of(standing) });
  standing = content;
}

const info = { name: 'test', version: '1' };
const target = () => new URL(`${hub.url}${GATEWAY}`);
const withOwner = () => ({ requestInit: { headers: { Authorization: `McpKey ${owner.key}` } } });

/** What a client was told: URIs of changed resources, and the methods of lists. */
type Told = string[];
type Listen = (uris: readonly string[]) => Promise<Told>;

const listenV1: Listen = async (uris) => {
  const told: Told = [];
  const client = new ClientV1(info);
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void told.push('resources'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => void told.push('prompts'));
  await client.connect(new TransportV1(target(), withOwner()) as unknown as Parameters<typeof client.connect>[0]);
  closing.push(() => client.close());
  for (const uri of uris) await client.subscribeResource({ uri });
  return told;
};

const listenV2: Listen = async (uris) => {
  const told: Told = [];
  const client = new ClientV2(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
  client.setNotificationHandler('notifications/resources/list_changed', () => void told.push('resources'));
  client.setNotificationHandler('notifications/prompts/list_changed', () => void told.push('prompts'));
  await client.connect(new TransportV2(target(), withOwner()));
  closing.push(() => client.close());
  const wish = { resourcesListChanged: true, promptsListChanged: true, toolsListChanged: true };
  const subscription = await client.listen({ ...wish, resourceSubscriptions: [...uris] });
  expect(subscription.honoredFilter).toEqual({
    resourcesListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: uris,
  });
  return told;
};

test.each([
  ['resources/subscribe (2025-11-25)', listenV1],
  ['subscriptions/listen (2026-07-28)', listenV2],
])('[MCP-6] %s: each write of another device is told within two seconds, and nothing else', async (_name, listen) => {
  const { key } = owner;
  const tool = (name: string, args: object) => structured<Record<string, never>>(hub, name, args, key);
  const suffix = String(closing.length + Math.random()).slice(2, 8);
  await tool('create_dev_doc', { title: `rules ${suffix}`, category: 'rules', create_category: true, content: 'x' });
  const doc = { category: 'rules', title: `rules ${suffix}` };
  const { paper } = (await tool('create_paper', { title: `p ${suffix}`, content: 'x' })) as unknown as {
    paper: { id: number };
  };
  await tool('handoff_save', { project: `p${suffix}`, topic: 't', content: 'one' });
  const uris = {
    doc: `cairn://docs/rules/rules%20${suffix}`,
    paper: `cairn://papers/${paper.id}`,
    handoff: `cairn://handoffs/p${suffix}/t`,
    absent: `cairn://handoffs/p${suffix}/later`,
    file: `cairn://vaults/${vault}/notes/a.md`,
    today: 'cairn://tasks/today',
  };
  const told = await listen(Object.values(uris));
  const today = new Date().toISOString().slice(0, 10);
  const expectTold = async (wanted: string, write: () => Promise<unknown>) => {
    told.length = 0;
    await write();
    await until(() => told.includes(wanted));
    expect(told.filter((one) => one.startsWith('cairn://'))).toEqual(wanted.startsWith('cairn://') ? [wanted] : []);
  };
  await expectTold(uris.doc, () => tool('update_dev_doc', { ...doc, content: 'y' }));
  await expectTold(uris.paper, () => tool('update_paper', { id: paper.id, content: 'y' }));
  await expectTold(uris.absent, () => tool('handoff_save', { project: `p${suffix}`, topic: 'later', content: 'x' }));
  await expectTold(uris.handoff, () => tool('handoff_save', { project: `p${suffix}`, topic: 't', content: 'two' }));
  await expectTold(uris.today, () => tool('create_task', { content: `due ${suffix}`, due_date: today }));
  const phone = owner.other('phone');
  await expectTold(uris.file, () => rewrite(phone, `two ${suffix}\n`));
  // What is written again as it was, and what nobody watches, is not told.
  await expectTold('resources', async () => {
    await tool('create_task', { content: 'some day' });
    await tool('update_dev_doc', { ...doc, content: 'y' });
    await phone.push(`notes/${suffix}.md`, 'new\n');
  });
  await expectTold('prompts', () =>
    tool('create_dev_doc', { title: `say ${suffix}`, category: 'commands', create_category: true, content: 'x' }),
  );
  await expectTold(uris.paper, () => tool('delete_paper', { id: paper.id }));
});

test('[MCP-6] a listener hears nothing of other accounts, also of a vault whose id it knows', async () => {
  const stranger = await newDevice(hub, 'spy');
  const uri = `cairn://vaults/${vault}/notes/a.md`;
  const spied = await stream(stranger.key, {
    resourceSubscriptions: [uri, 'cairn://tasks/today'],
    resourcesListChanged: true,
  });
  const own = await stream(owner.key, { resourceSubscriptions: [uri] });
  await rewrite(owner, 'seen by one\n');
  await own.until('resources/updated');
  await callTool(hub, 'create_task', { content: 'x', due_date: new Date().toISOString().slice(0, 10) }, stranger.key);
  await spied.until('cairn://tasks/today"}');
  expect(spied.seen().match(/notifications\/resources\/[a-z_]+/g)).toEqual(['notifications/resources/updated']);
});

test('[OAUTH-5, MCP-6] a read-only key listens and subscribes like any other', async () => {
  const browser = await signedUp(hub, 'reader@example.org', PASSWORD);
  const [writer = ''] = /[0-9a-f]{64}/.exec(browser.text) ?? [];
  await browser.open('/settings');
  await browser.submit('/settings/keys', { name: 'reader', read_only: 'true' });
  const [reader = ''] = /[0-9a-f]{64}/.exec(browser.text) ?? [];
  expect(await callTool(hub, 'create_task', { content: 'x' }, reader)).toMatchObject({ error: { code: -32003 } });
  const opened = await post(
    hub,
    request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info }),
    withKey(reader),
  );
  const session = { 'Mcp-Session-Id': String(opened.headers['mcp-session-id']), ...withKey(reader) };
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
    const answer = await post(hub, request(2, method, { uri: 'cairn://tasks/today' }), session);
    expect([method, replyOf(answer).result]).toEqual([method, {}]);
  }
  const listening = await stream(reader, { resourceSubscriptions: ['cairn://tasks/today'] });
  await callTool(hub, 'create_task', { content: 'x', due_date: new Date().toISOString().slice(0, 10) }, writer);
  await listening.until('cairn://tasks/today"}');
});

test('[MCP-6, KEY-3] a stream ends when its key no longer works, and when the hub stops', async () => {
  const own = await startHub();
  const { mcp_key: key, email } = await account(own);
  const first = await stream(key, { resourcesListChanged: true }, own.url);
  const { code } = await own.cli('account', 'disable', '--email', email);
  expect(code).toBe(0);
  expect(await first.ended).toBe(false);
  const other = await newDevice(own, 'laptop');
  const second = await stream(other.key, { promptsListChanged: true }, own.url);
  await own.stop();
  // A stop is told as the result of the request.
  expect(await second.ended).toBe(true);
});

test('[MCP-6] what is wrong with a wish is refused, and one account holds so many streams', async () => {
  const ask = async (notifications: unknown, key: string | undefined = owner.key) => {
    const { body, headers } = modern('subscriptions/listen', { notifications });
    return await post(hub, body, { ...headers, ...withKey(key) });
  };
  const many = Array.from({ length: limits.subscriptionsMax + 1 }, (_, n) => `cairn://papers/${n + 1}`);
  for (const wrong of [undefined, null, 7, { resourceSubscriptions: 'x' }, { resourceSubscriptions: many }]) {
    expect(replyOf(await ask(wrong)).error).toMatchObject({ code: -32602, data: { field: 'notifications' } });
  }
  const anonymous = modern('subscriptions/listen', { notifications: {} });
  expect((await post(hub, anonymous.body, anonymous.headers)).status).toBe(401);
  const device = await newDevice(hub, 'many');
  const streams = [];
  for (let n = 0; n < limits.listenersPerAccountMax; n += 1) streams.push(await stream(device.key, {}));
  expect(replyOf(await ask({}, device.key)).error?.message).toContain('listen already');
  streams[0]?.close();
  await until(async () => {
    const next = await stream(device.key, {}).catch(() => undefined);
    return next !== undefined;
  });
});

test('[MCP-1, MCP-6] GET is 405 without a session, a credential or a wish for events; subscribing needs the session', async () => {
  const initialized = await post(
    hub,
    request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info }),
    withKey(owner.key),
  );
  const session = { 'Mcp-Session-Id': String(initialized.headers['mcp-session-id']) };
  const events = { Accept: 'text/event-stream' };
  for (const headers of [
    {},
    { ...events, ...withKey(owner.key) },
    { ...session, ...withKey(owner.key) },
    { ...session, ...events },
    { ...events, ...withKey(owner.key), 'Mcp-Session-Id': 'x' },
  ]) {
    for (const path of [GATEWAY, '/mcp']) {
      const { status, headers: told } = await call(hub, path, { headers });
      const asksToSignIn = path === '/mcp' && !('Authorization' in headers);
      expect([path, status, told['allow']]).toEqual(asksToSignIn ? [path, 401, undefined] : [path, 405, 'POST']);
    }
  }
  expect((await call(hub, GATEWAY, { headers: { ...session, ...events, ...withKey('mcp_wrong') } })).status).toBe(401);
  const subscribe = async (uri: unknown, headers: object) =>
    replyOf(await post(hub, request(2, 'resources/subscribe', { uri }), { ...withKey(owner.key), ...headers }));
  expect((await subscribe('cairn://tasks/today', {})).error).toMatchObject({ code: -32602 });
  expect((await subscribe('cairn://tasks/today', session)).result).toEqual({});
  expect((await subscribe('cairn://nothing', session)).error).toMatchObject({ code: -32002 });
  expect((await subscribe(7, session)).error).toMatchObject({ code: -32002 });
  for (let n = 1; n < limits.subscriptionsMax; n += 1) await subscribe(`cairn://papers/${n}`, session);
  expect((await subscribe('cairn://papers/1000', session)).error?.message).toContain('at most 100 subscriptions');
});

/** A raw stream of `subscriptions/listen`. Rejects when it is refused. */
async function stream(key: string, notifications: object, url = hub.url) {
  const { body, headers } = modern('subscriptions/listen', { notifications }, 'listen-1');
  const cut = new AbortController();
  const response = await fetch(`${url}${GATEWAY}`, {
    method: 'POST',
    headers: { ...headers, Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: cut.signal,
  });
  if (response.headers.get('content-type') !== 'text/event-stream') throw new Error(await response.text());
  closing.push(() => cut.abort());
  let seen = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) seen += decoder.decode(chunk);
  };
  const reading = read().catch(() => undefined);
  await until(() => seen.includes('subscriptions/acknowledged'));
  return {
    seen: () => seen,
    until: (text: string) => until(() => seen.includes(text)),
    close: () => cut.abort(),
    /** Whether it ended with a result. */
    ended: reading.then(() => seen.includes('"id":"listen-1"')),
  };
}
