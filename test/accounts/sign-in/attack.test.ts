/** Guessing passwords from many addresses, against a hub behind a proxy: the owner signs in meanwhile. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mirrorTool, PASSWORD } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { CLIENT, postForm } from '../../support/oauth.ts';
import { PageClient } from '../../support/page-client.ts';

let hub: Hub;
const EMAIL = 'owner@example.org';

beforeAll(async () => {
  hub = await startHub({
    env: { CAIRN_SIGNIN_LIMIT: '10', CAIRN_TRUSTED_PROXIES: '127.0.0.1', CAIRN_SIGNUP: 'open' },
  });
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

const WRONG_TOKEN = { grant_type: 'refresh_token', client_id: CLIENT, refresh_token: 'crt_wrong' };
const from = (address: string) => ({ 'X-Forwarded-For': address });

async function signIn(client: PageClient, password = PASSWORD): Promise<boolean> {
  await client.open('/signin');
  await client.submit('/signin', { email: EMAIL, password });
  return (await client.send('/settings')).status === 200;
}

test('[AUTH-1] twelve wrong passwords from twelve addresses lock neither the owner’s browser nor a new one out', async () => {
  const own = new PageClient(hub, from('203.0.113.1'));
  await own.open('/signup');
  await own.submit('/signup', { email: EMAIL, password: PASSWORD });
  await own.open('/settings');
  await own.submit('/signout');
  for (let n = 0; n < 12; n += 1) {
    const args = { email: EMAIL, password: 'a wrong guess' };
    expect((await mirrorTool(hub, 'login_and_get_key', args, from(`198.51.100.${n}`))).status).toBe(401);
  }
  expect(await signIn(own)).toBe(true);
  expect(await signIn(new PageClient(hub, from('203.0.113.2')))).toBe(true);
  // A mark is worth nothing to another account, and a forged one nothing at all.
  const forged = new PageClient(hub, from('203.0.113.3'));
  forged.cookies.set('cairn_browser', `${'A'.repeat(22)}.${'0'.repeat(32)}`);
  expect(await signIn(forged, 'a wrong guess')).toBe(false);
  await own.open('/settings');
  expect(own.text).toContain('Sign-in failed wrong password');
});

test('[AUTH-1] an address whose own tries are used up is refused, except for the browser that is known there', async () => {
  const here = from('203.0.113.77');
  const own = new PageClient(hub, here);
  expect(await signIn(own)).toBe(true);
  await own.open('/settings');
  await own.submit('/signout');
  const answers = [];
  for (let n = 0; n < 12; n += 1) {
    const args = { email: `n${n}@example.org`, password: 'a wrong guess' };
    answers.push((await mirrorTool(hub, 'login_and_get_key', args, here)).status);
  }
  expect(answers.at(-1)).toBe(429);
  expect(await signIn(new PageClient(hub, here))).toBe(false);
  expect(await signIn(own)).toBe(true);
});

test('[AUTH-1] an attempt with the old password that waited while the password changed signs nobody in', async () => {
  const own = new PageClient(hub, from('203.0.113.1'));
  expect(await signIn(own)).toBe(true);
  await own.open('/settings');
  // The email is under attack since the first test: strangers take turns, so the last of these waits for seconds.
  const waiting = Array.from({ length: 4 }, (_, n) =>
    mirrorTool(hub, 'login_and_get_key', { email: EMAIL, password: PASSWORD }, from(`192.0.2.${n}`)),
  );
  await Promise.race(waiting);
  const next = 'another battery';
  await own.submit('/settings/password', { current_password: PASSWORD, password: next });
  expect(own.text).toContain('Password changed');
  const statuses = (await Promise.all(waiting)).map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toContain(200);
  expect(statuses.at(-1)).toBe(401);
});

test.each<readonly [string, (headers: Record<string, string>) => Promise<{ readonly status: number }>]>([
  ['sign-up', (headers) => mirrorTool(hub, 'signup_and_get_key', { email: 'none', password: 'x' }, headers)],
  ['sign-in of a device', (headers) => postForm(hub, '/oauth/device_authorization', { client_id: CLIENT }, headers)],
  ['wrong refresh token', (headers) => postForm(hub, '/oauth/token', WRONG_TOKEN, headers)],
])('[LIM-1] addresses of one /64 are one caller: %s', async (name, send) => {
  const statuses: number[] = [];
  for (let n = 0; n < 12; n += 1) statuses.push((await send(from(`2001:db8:0:${name.length}::${n}`))).status);
  expect(statuses).toContain(429);
});
