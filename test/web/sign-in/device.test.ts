/** Letting a device in with a browser without script: what is shown, what each answer does, who may guess how often. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { accessToken, PASSWORD } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { askDevice, type DeviceCodes, poll, refresh, type Tokens } from '../../support/oauth.ts';
import { PageClient, signedUp } from '../../support/page-client.ts';

let hub: Hub;
let count = 0;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

const freshEmail = () => {
  count += 1;
  return `device${count}@example.org`;
};

const member = (email = freshEmail()) => signedUp(hub, email, PASSWORD);

/** Where the link of a device leads on this hub. */
const linkOf = ({ verification_uri_complete: link }: DeviceCodes) => {
  const { pathname, search } = new URL(link);
  return pathname + search;
};

async function tokensOf(codes: DeviceCodes): Promise<Tokens> {
  const answer = await poll(hub, codes.device_code);
  expect(answer.status).toBe(200);
  return answer.json() as unknown as Tokens;
}

const works = async ({ access_token: token }: Tokens) =>
  (await call(hub, '/api/tasks', { headers: { Authorization: `Bearer ${token}` } })).status === 200;

test('[WEB-1, OAUTH-1] the link of a device leads through the sign-in to what it asks for, and approving lets it in', async () => {
  const email = freshEmail();
  await member(email);
  const codes = await askDevice(hub, { device_name: 'build-box <7>', scope: 'mcp' });
  const phone = new PageClient(hub);
  await phone.open(linkOf(codes));
  expect(phone.path).toMatch(/^\/signin\?next=/);
  expect(phone.text).not.toContain('build-box');
  await phone.submit('/signin', { email, password: PASSWORD });
  expect(phone.path).toBe(linkOf(codes));
  for (const said of [
    codes.user_code,
    'build-box <7>',
    'cairn-test',
    'an MCP key with full access',
    '127.0.0.1',
    email,
  ]) {
    expect(phone.text).toContain(said);
  }
  expect((await poll(hub, codes.device_code)).json()).toMatchObject({ error: 'authorization_pending' });
  await phone.submit('/device/approve');
  expect(phone.text).toContain('“build-box <7>” is now signed in.');
  const tokens = await tokensOf(codes);
  expect(tokens.mcp_key).toMatch(/^[0-9a-f]{64}$/);
  expect(await works(tokens)).toBe(true);
  await phone.open('/settings');
  expect(phone.text).toContain('build-box <7>');
});

test('[WEB-1, OAUTH-1] a code is typed in any form; denying turns the device away', async () => {
  const client = await member();
  const codes = await askDevice(hub, { device_name: 'laptop' });
  await client.open('/device');
  const typed = ` ${codes.user_code.toLowerCase().replace('-', ' ')} `;
  await client.open(`/device?user_code=${encodeURIComponent(typed)}`);
  expect(client.text).toContain(codes.user_code);
  await client.submit('/device/approve', {}, {});
  const other = await askDevice(hub);
  await client.open(linkOf(other));
  expect(client.text).toContain('It did not send a name.');
  await client.post('/device/deny', client.fieldsOf('/device/approve'));
  expect((await poll(hub, other.device_code)).json()).toMatchObject({ error: 'access_denied' });
  await client.open('/settings');
  expect(client.text).toContain('“cairn-test” was turned away.');
});

test('[WEB-6, OAUTH-1] a link alone, a form of another site or of another session approves nothing', async () => {
  const client = await member();
  const codes = await askDevice(hub);
  await client.open(linkOf(codes));
  const fields = client.fieldsOf('/device/approve');
  const followed = await client.send(`/device/approve?${fields}`);
  expect([followed.status, followed.headers['location']]).toEqual([303, '/device']);
  expect((await client.post('/device/approve', fields, { Origin: 'https://evil.example' })).status).toBe(403);
  const stranger = await member();
  expect((await stranger.post('/device/approve', fields)).status).toBe(403);
  expect((await new PageClient(hub).post('/device/approve', fields)).status).toBe(303);
  const bare = new URLSearchParams({ user_code: codes.user_code });
  expect((await client.post('/device/approve', bare)).status).toBe(403);
  expect((await poll(hub, codes.device_code)).json()).toMatchObject({ error: 'authorization_pending' });
});

test('[WEB-1, OAUTH-1] a code that is wrong, used or gone brings back the form; too many wrong ones are a page of status 429', async () => {
  // A hub of its own: wrong codes count for the address, which all tests here have.
  const own = await startHub();
  const client = await signedUp(own, freshEmail(), PASSWORD);
  const codes = await askDevice(own);
  await client.open(linkOf(codes));
  const fields = client.fieldsOf('/device/approve');
  await client.post('/device/approve', fields);
  await client.open('/device');
  fields.set('csrf', client.fieldsOf('/signout').get('csrf') ?? '');
  // One that was used counts as wrong, like any other.
  for (let tries = 1; tries <= limits.userCodeTriesMax; tries += 1) {
    const answer =
      tries === 1 ? await client.post('/device/approve', fields) : await client.open('/device?user_code=BCDF-GHJK');
    expect([tries, answer.status]).toEqual([tries, 422]);
    expect(client.text).toContain('No device is waiting with this code');
  }
  const next = await askDevice(own);
  const refused = await client.open(linkOf(next));
  expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
  expect(client.text).toContain('Too many attempts');
  expect(
    (
      await client.post(
        '/device/approve',
        new URLSearchParams({ ...Object.fromEntries(fields), user_code: next.user_code }),
      )
    ).status,
  ).toBe(429);
  expect((await poll(own, next.device_code)).json()).toMatchObject({ error: 'authorization_pending' });
  await own.stop();
});

test('[WEB-1, KEY-5] an account that is full of keys is told so in front of the device, which goes on waiting', async () => {
  const own = await startHub();
  const client = await signedUp(own, freshEmail(), PASSWORD);
  await client.open('/settings');
  for (let keys = 1; keys < limits.accountKeysLiveMax; keys += 1) {
    await client.post('/settings/keys', client.fieldsOf('/settings/keys', { name: `key ${keys}` }));
    await client.open('/settings');
  }
  const codes = await askDevice(own, { scope: 'mcp' });
  await client.open(linkOf(codes));
  await client.submit('/device/approve');
  expect([client.answer?.status, client.text]).toEqual([422, expect.stringContaining('already has 50 active keys')]);
  expect(client.text).toContain(codes.user_code);
  expect((await poll(own, codes.device_code)).json()).toMatchObject({ error: 'authorization_pending' });
  await own.stop();
});

test('[WEB-1, KEY-6] the settings create an access token, for everything or to read only, and revoke it', async () => {
  const client = await signedUp(hub, 'tokens@example.org', PASSWORD);
  const write = async (token: string) =>
    (
      await call(hub, '/api/tasks', {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ content: 'by a token' }),
      })
    ).status;
  const read = async (token: string) =>
    (await call(hub, '/api/tasks', { headers: { Authorization: `Bearer ${token}` } })).status;
  const made: string[] = [];
  for (const readOnly of [undefined, 'true']) {
    await client.open('/settings');
    await client.submit('/settings/tokens', { read_only: readOnly });
    made.push(/cat_[\w-]{49}/.exec(client.text)?.[0] ?? '');
  }
  expect(client.text).toContain('read only · ends');
  const [full = '', reader = ''] = made;
  expect([await read(full), await write(full), await read(reader), await write(reader)]).toEqual([200, 201, 200, 403]);
  await client.open('/settings');
  expect(client.text).not.toContain(reader);
  for (const { action } of client.forms.filter((form) => /tokens\/.*\/end$/.test(form.action))) {
    await client.submit(action);
  }
  expect([await read(full), await read(reader)]).toEqual([401, 401]);
});

test('[WEB-1, KEY-6] the settings sign a device out, and its tokens end', async () => {
  const email = freshEmail();
  const client = await member(email);
  const codes = await askDevice(hub, { device_name: 'to be lost' });
  await client.open(linkOf(codes));
  await client.submit('/device/approve');
  const tokens = await tokensOf(codes);
  const stranger = await member();
  await client.open('/settings');
  const action = client.forms.find((form) => /^\/settings\/devices\/.*\/end$/.test(form.action))?.action ?? '';
  await stranger.open('/settings');
  expect((await stranger.post(action, stranger.fieldsOf('/settings/account-key'))).status).toBe(404);
  expect(await works(tokens)).toBe(true);
  await client.submit(action);
  expect(client.text).toContain('is signed out. Its access tokens no longer work.');
  expect([await works(tokens), (await refresh(hub, tokens.refresh_token)).status]).toEqual([false, 400]);
});

test('[WEB-1, KEY-6] the settings list access tokens without a device, and revoke one alone', async () => {
  const email = freshEmail();
  const client = await member(email);
  const made = await accessToken(hub, email);
  const codes = await askDevice(hub, { device_name: 'kept' });
  await client.open(linkOf(codes));
  await client.submit('/device/approve');
  const tokens = await tokensOf(codes);
  await client.open('/settings');
  expect(client.text).toContain('Created without a device');
  const forms = client.forms.filter(({ action }) => action.startsWith('/settings/tokens/'));
  // That of a device is a part of the device's row.
  expect(forms.length).toBe(1);
  const own = client.html.slice(client.html.indexOf('Created without a device'));
  const [, action = ''] = /action="(\/settings\/tokens\/[^"]*)"/.exec(own) ?? [];
  await client.submit(action);
  expect(client.text).toContain('The access token is revoked.');
  expect([await works({ ...tokens, access_token: made }), await works(tokens)]).toEqual([false, true]);
  expect((await client.post(action, client.fieldsOf('/settings/account-key'))).status).toBe(404);
});

test('[WEB-4] what a device calls itself is shown as text', async () => {
  const client = await member();
  const markup = '<script>alert(1)</script><img src=x>';
  const codes = await askDevice(hub, { client_id: markup, device_name: `"'>${markup}` });
  await client.open(linkOf(codes));
  const pages = [client.html];
  await client.submit('/device/approve');
  pages.push(client.html);
  await poll(hub, codes.device_code, markup);
  await client.open('/settings');
  pages.push(client.html);
  for (const html of pages) {
    expect(html.match(/<script/g)).toEqual(['<script']);
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;script>');
  }
});
