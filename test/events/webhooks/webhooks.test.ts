/** Events that a hub posts to addresses of its users: signed, in order, again until they are taken, to no private address. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { PASSWORD, structured, withKey } from '../../support/gateway.ts';
import { type Answer, call } from '../../support/http.ts';
import { signedUp } from '../../support/page-client.ts';
import { PATIENTLY, Receiver } from '../../support/receiver.ts';
import { type Device, newDevice } from '../../support/sync.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ env: { CAIRN_WEBHOOKS: 'private' }, verified: true });
let owner: Device;
let receiver: Receiver;

interface Webhook {
  readonly id: string;
  readonly secret: string;
  readonly enabled: boolean;
  readonly disabled_because: string | null;
  readonly failed_tries: number;
  readonly next_try_at: string | null;
  readonly deliveries: { readonly message: string; readonly status: number | null; readonly error: string | null }[];
}

const send = (method: string, path: string, body?: unknown, who: Pick<Device, 'key' | 'hub'> = owner) =>
  call(who.hub, `/api/webhooks${path}`, {
    method,
    headers: { ...withKey(who.key), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const webhookIn = (answer: Answer, status = 200): Webhook => {
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  return answer.json() as unknown as Webhook;
};

const create = async (fields: object = {}) => {
  const made = webhookIn(await send('POST', '', { url: receiver.url, ...fields }), 201);
  receiver.secret = made.secret;
  return made;
};

const shown = async ({ id }: Pick<Webhook, 'id'>) => webhookIn(await send('GET', `/${id}`));

const addTask = (content: string) => structured(hub, 'create_task', { content }, owner.key);

beforeAll(async () => {
  owner = await newDevice(hub, 'laptop');
});

beforeEach(async () => {
  receiver = await Receiver.open();
});

const opened: Receiver[] = [];
beforeEach(() => void opened.push(receiver));
afterAll(() => {
  for (const one of opened) one.close();
});

test('[EVENT-3] events of the chosen kinds are posted in order, each signed under an id of its own', async () => {
  const webhook = await create({ kinds: ['task', 'file'] });
  await addTask('one');
  await structured(hub, 'create_paper', { title: 'Not wanted', content: '' }, owner.key);
  await owner.push('notes/hook.md', 'two');
  await addTask('three');
  await vi.waitFor(() => expect(receiver.received).toHaveLength(3), PATIENTLY);
  expect(receiver.received.map(({ type, event }) => [type, event.name])).toEqual([
    ['task.created', 'one'],
    ['file.created', 'hook.md'],
    ['task.created', 'three'],
  ]);
  expect(receiver.received.every(({ signed }) => signed === 1)).toBe(true);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3);
  await vi.waitFor(async () => expect((await shown(webhook)).deliveries).toHaveLength(3), PATIENTLY);
  const { deliveries, ...rest } = await shown(webhook);
  expect(deliveries.map(({ message, status }) => [message, status])).toEqual(
    receiver.received.map(({ id }) => [id, 200]).toReversed(),
  );
  expect(JSON.stringify(rest)).not.toContain('whsec_');
  expect((await send('DELETE', `/${webhook.id}`)).status).toBe(204);
  await addTask('four');
  expect((await send('GET', `/${webhook.id}`)).status).toBe(404);
});

test('[EVENT-3] an event that is not taken is sent again under the same id, before the next one', async () => {
  const webhook = await create({ kinds: ['task'] });
  receiver.status = 503;
  await addTask('stubborn');
  await vi.waitFor(async () => expect((await shown(webhook)).failed_tries).toBe(1), PATIENTLY);
  await addTask('patient');
  expect(await shown(webhook)).toMatchObject({
    next_try_at: expect.any(String),
    deliveries: [{ status: 503, error: expect.stringContaining('503') }],
  });
  receiver.status = 200;
  // Turning it off and on again tries at once.
  webhookIn(await send('PATCH', `/${webhook.id}`, { enabled: false }));
  expect(await shown(webhook)).toMatchObject({ enabled: false, disabled_because: 'turned off' });
  webhookIn(await send('PATCH', `/${webhook.id}`, { enabled: true }));
  await vi.waitFor(() => expect(receiver.taken).toHaveLength(2), PATIENTLY);
  expect(receiver.taken.map(({ event }) => event.name)).toEqual(['stubborn', 'patient']);
  expect(receiver.received[0]?.id).toBe(receiver.taken[0]?.id);
  await send('DELETE', `/${webhook.id}`);
});

test('[EVENT-3] a redirect is not followed, and a 410 turns the webhook off, which the account sees', async () => {
  const elsewhere = await Receiver.open();
  opened.push(elsewhere);
  const webhook = await create({ kinds: ['task'] });
  receiver.status = 307;
  receiver.headers = { Location: elsewhere.url };
  await addTask('moved');
  await vi.waitFor(async () => expect((await shown(webhook)).failed_tries).toBe(1), PATIENTLY);
  expect((await shown(webhook)).deliveries[0]?.error).toContain('not followed');
  expect(elsewhere.received).toEqual([]);
  receiver.status = 410;
  webhookIn(await send('PATCH', `/${webhook.id}`, { url: `${receiver.url}?again` }));
  await vi.waitFor(async () => expect((await shown(webhook)).enabled).toBe(false), PATIENTLY);
  expect((await shown(webhook)).disabled_because).toContain('410');
  await send('DELETE', `/${webhook.id}`);
});

test('[EVENT-3] a new secret signs at once, and the old one as well', async () => {
  const webhook = await create({ kinds: ['task'] });
  const old = webhook.secret;
  const { secret } = webhookIn(await send('POST', `/${webhook.id}/secret`));
  expect(secret).not.toBe(old);
  await addTask('old secret');
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), PATIENTLY);
  receiver.secret = secret;
  await addTask('new secret');
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), PATIENTLY);
  expect(receiver.received.map(({ signed }) => signed)).toEqual([1, 1]);
  await send('DELETE', `/${webhook.id}`);
});

test('[EVENT-3] webhooks are of one account, and a few each', async () => {
  const webhook = await create({ kinds: ['backup'] });
  const stranger = await newDevice(hub, 'stranger');
  for (const [method, path, body] of [
    ['GET', `/${webhook.id}`],
    ['PATCH', `/${webhook.id}`, { enabled: false }],
    ['POST', `/${webhook.id}/secret`],
    ['DELETE', `/${webhook.id}`],
  ] as const) {
    expect([method, (await send(method, path, body, stranger)).status]).toEqual([method, 404]);
  }
  const made = await Promise.all(Array.from({ length: 10 }, () => send('POST', '', { url: receiver.url }, stranger)));
  expect(made.every(({ status }) => status === 201)).toBe(true);
  expect((await send('POST', '', { url: receiver.url }, stranger)).status).toBe(422);
  expect((await send('POST', '', { url: 'ftp://example.com/' })).json()).toMatchObject({
    errors: { url: ['url must be an https address'] },
  });
  await send('DELETE', `/${webhook.id}`);
});

test('[EVENT-3, WEB-1] the settings page adds, shows, and removes webhooks', async () => {
  const browser = await signedUp(hub, 'hooks@example.org', PASSWORD);
  await browser.open('/settings');
  await browser.submit('/settings/webhooks', { url: 'ftp://example.com/' });
  expect(browser.text).toContain('must be an https address');
  await browser.submit('/settings/webhooks', { url: receiver.url, kinds: 'task' });
  receiver.secret = /whsec_[\w+/=]+/.exec(browser.text)?.[0] ?? '';
  expect(receiver.secret).not.toBe('');
  await browser.open('/tasks');
  await browser.submit('/tasks', { content: 'from a page' });
  await vi.waitFor(() => expect(receiver.received.map(({ signed }) => signed)).toEqual([1]), PATIENTLY);
  await vi.waitFor(async () => {
    await browser.open('/settings');
    expect(browser.text).toContain('delivered');
  }, PATIENTLY);
  expect(browser.text).not.toContain('whsec_');
  const [, id = ''] = /\/settings\/webhooks\/(wh_\w+)\/remove/.exec(browser.html) ?? [];
  await browser.submit(`/settings/webhooks/${id}/remove`);
  expect(browser.text).toContain('No webhook yet');
});

test('[EVENT-3] the server of the manual checks signatures and prints each event once', async () => {
  const manual = readFileSync(new URL('../../../src/manual/events.md', import.meta.url), 'utf8');
  const [, script = ''] = /```js\n([\s\S]*?)```/.exec(manual) ?? [];
  const file = join(temporaryFolder(), 'receiver.mjs');
  writeFileSync(file, script);
  const webhook = await create({ kinds: ['task'] });
  const server = spawn(process.execPath, [file], { env: { PORT: '0', WEBHOOK_SECRET: webhook.secret } });
  try {
    const told: string[] = [];
    createInterface(server.stdout).on('line', (line) => told.push(line));
    await vi.waitFor(() => expect(told[0]).toMatch(/^listens on \d+$/), PATIENTLY);
    const url = `http://127.0.0.1:${told[0]?.split(' ').at(-1)}/`;
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    webhookIn(await send('PATCH', `/${webhook.id}`, { url }));
    await addTask('seen by the example');
    await vi.waitFor(() => expect(told.slice(1)).toEqual(['task.created seen by the example']), PATIENTLY);
  } finally {
    server.kill();
  }
  await send('DELETE', `/${webhook.id}`);
});
