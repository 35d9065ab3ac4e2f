/** Every form that asks for a recent password, sent from a session whose password was entered too long ago. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { newProof, queryOf, register } from '../../support/authorize.ts';
import { clockAhead } from '../../support/clock.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { postForm } from '../../support/oauth.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { declaredPages } from '../../support/page-routes.ts';

type Fields = Readonly<Record<string, string>>;

/** Each form with fields that it accepts, so that only the missing password can stop it. */
const FORMS: Readonly<Record<string, () => Fields | Promise<Fields>>> = {
  '/settings/keys': () => ({ name: 'stolen' }),
  '/settings/account-key': () => ({}),
  '/settings/tokens': () => ({}),
  '/settings/identities': () => ({ token: 'ey.ey.ey' }),
  '/settings/second-factor': () => ({}),
  '/settings/second-factor/codes': () => ({}),
  '/settings/export': () => ({}),
  '/settings/webhooks': () => ({ url: 'https://hooks.example.org/' }),
  '/settings/webhooks/:id/secret': () => ({}),
  '/settings/webhooks/:id/enable': () => ({}),
  '/mirror/credential': () => ({ rotate: 'true' }),
  '/mirror/uploaders': () => ({ name: 'ci' }),
  '/device/approve': async () => ({ user_code: await askedCode() }),
  '/oauth/authorize': async () => ({ answer: 'authorize', request: queryOf(await register(hub), newProof()) }),
};

/** Forms about access to the account that ask for no recent password, with the reason. */
const TAKES_AWAY = 'it only takes access away';
const ASKS_ITSELF = 'the form itself has the password, or a code';
const UNGUARDED: Readonly<Record<string, string>> = {
  '/settings/keys/:id/revoke': TAKES_AWAY,
  '/settings/identities/:id/unlink': TAKES_AWAY,
  '/settings/devices/:id/end': TAKES_AWAY,
  '/settings/tokens/:id/end': TAKES_AWAY,
  '/settings/browsers/:id/end': TAKES_AWAY,
  '/settings/webhooks/:id/remove': TAKES_AWAY,
  '/mirror/credential/delete': TAKES_AWAY,
  '/mirror/uploaders/revoke': TAKES_AWAY,
  '/device/deny': TAKES_AWAY,
  '/settings/password': ASKS_ITSELF,
  '/settings/delete': ASKS_ITSELF,
  '/settings/second-factor/off': ASKS_ITSELF,
  '/settings/second-factor/confirm': 'it ends what a guarded form began, with a code',
  '/settings/timezone': 'it gives no access',
};
const ACCESS = /^\/(settings|mirror|device|oauth)\b/;

const EMAIL = 'fresh@example.org';
const ENV = { CAIRN_OAUTH_METADATA: 'on' };
const forms = declaredPages().filter(({ method }) => method === 'POST');
let hub: Hub;
let browser: PageClient;

beforeAll(async () => {
  const earlier = await startHub({ env: ENV });
  browser = await signedUp(earlier, EMAIL, PASSWORD);
  await earlier.stop();
  hub = await startHub({ dataFolder: earlier.dataFolder, env: { ...ENV, ...clockAhead(limits.freshSignInMs) } });
  Object.assign(browser, { hub });
});

afterAll(async () => {
  await hub.stop();
});

async function askedCode(): Promise<string> {
  const answer = await postForm(hub, '/oauth/device_authorization', { client_id: 'test', scope: 'account mcp' });
  return String(answer.json()['user_code']);
}

/** Sends a form with the token of this session; redirects are not followed. */
async function send(path: string, fields: Fields) {
  await browser.open('/mirror');
  const { csrf = '' } = Object.fromEntries(browser.fieldsOf('/mirror/credential'));
  return await browser.post(path, new URLSearchParams({ csrf, ...fields }));
}

/** What the account has, as its owner and the security events show it. */
async function owned(): Promise<string[]> {
  const seen: string[] = [];
  for (const path of ['/settings', '/mirror', '/settings/second-factor']) {
    await browser.open(path);
    seen.push(browser.path, browser.text.replaceAll(/\d+ (minutes?|seconds?) ago|just now/g, 'ago'));
  }
  const { stdout } = await hub.cli('audit', '--email', EMAIL, '--json');
  return [...seen, stdout];
}

const isConfirm = (location: string | undefined) => location?.startsWith('/confirm?next=') === true;

test('[AUTH-2] every form about access asks for a recent password, or says why not', () => {
  const declared = forms.filter(({ fresh }) => fresh).map(({ path }) => path);
  expect(declared.sort()).toEqual(Object.keys(FORMS).sort());
  const others = forms.filter(({ path, fresh }) => !fresh && ACCESS.test(path)).map(({ path }) => path);
  expect(others.sort()).toEqual(Object.keys(UNGUARDED).sort());
});

describe('[AUTH-2] a session whose password was entered 15 minutes ago', () => {
  test.each(Object.entries(FORMS))('%s does nothing and asks for the password', async (path, fields) => {
    const sent = await fields();
    const before = await owned();
    const answer = await send(path, sent);
    expect([answer.status, isConfirm(answer.headers['location'])]).toEqual([303, true]);
    await browser.open(answer.headers['location'] ?? '');
    expect(browser.text).toContain('Confirm your password');
    expect(await owned()).toEqual(before);
  });
});

test('[AUTH-2] once the password is confirmed, what was asked for happens, and each of these forms is handled', async () => {
  const asked = await send('/settings/keys', { name: 'asked before' });
  await browser.open(asked.headers['location'] ?? '');
  await browser.submit('/confirm', { password: 'wrong password' });
  expect(browser.text).toContain('Wrong password.');
  await browser.submit('/confirm', { password: PASSWORD });
  // What was asked for has happened, once.
  expect(browser.path).toBe('/settings');
  expect(browser.text).toContain('asked before');
  expect(browser.text).not.toContain('repeat your change');
  for (const [path, fields] of Object.entries(FORMS)) {
    const answer = await send(path, await fields());
    expect([path, isConfirm(answer.headers['location'])]).toEqual([path, false]);
  }
  await browser.open('/settings');
  expect(browser.text).toContain('stolen');
});
