/** Signing up, in and out with a browser without script, and what a session of it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountTables } from '../../../src/accounts/records.ts';
import { BrowserSessions } from '../../../src/accounts/sessions.ts';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { auditSourceOf } from '../../../src/audit/note.ts';
import { auditTables } from '../../../src/audit/records.ts';
import { openLog } from '../../../src/common/log.ts';
import { limits } from '../../../src/limits/service.ts';
import { createSealer } from '../../../src/store/sealing/seal.ts';
import { Store } from '../../../src/store/store.ts';
import { selfSigned } from '../../support/certificate.ts';
import { callTool, PASSWORD, structured } from '../../support/gateway.ts';
import { type Hub, runCairn, startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { PageClient, signedUp } from '../../support/page-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const COOKIE = 'cairn_session';

let hub: Hub;
let count = 0;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  const verified = await hub.cli('verify', '--json');
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, problems: [] });
  await hub.stop();
});

const freshEmail = () => {
  count += 1;
  return `reader${count}@example.org`;
};

async function signIn(email: string, password = PASSWORD, client = new PageClient(hub)): Promise<PageClient> {
  await client.open('/signin');
  await client.submit('/signin', { email, password });
  return client;
}

const isSignedIn = async (client: PageClient) => (await client.send('/settings')).status === 200;

test('[WEB-1] a newcomer signs up, is shown both keys once, and the keys open what keys open', async () => {
  const client = new PageClient(hub);
  await client.open('/');
  expect(client.html).toContain('href="/signup"');
  await client.open('/signup');
  const email = freshEmail();
  await client.submit('/signup', { email, name: 'Ada Lovelace', password: PASSWORD });
  expect([client.path, client.answer?.status]).toEqual(['/', 200]);
  expect(client.text).toContain('Welcome, Ada Lovelace');
  const [mcpKey] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const [accountKey] = /\b[a-z2-9]{24}\b/.exec(client.text) ?? [];
  for (const key of [mcpKey, accountKey])
    expect(await structured(hub, 'list_tasks', {}, key)).toMatchObject({ count: 0 });
  await client.open('/');
  expect(client.html).not.toContain(mcpKey);
  expect(client.html).not.toContain(accountKey);
});

test('[WEB-1] signing out ends the session on this side: the old cookie opens nothing', async () => {
  const client = await signedUp(hub, freshEmail(), PASSWORD);
  const id = client.cookies.get(COOKIE) ?? '';
  await client.open('/');
  const out = await client.post('/signout', client.fieldsOf('/signout'));
  // Not cookies: the mark of a known browser stays.
  expect([out.status, out.headers['clear-site-data']]).toEqual([303, '"storage"']);
  await client.open('/');
  expect(client.text).toContain('You are signed out');
  expect(client.cookies.get(COOKIE)).not.toBe(id);
  const thief = new PageClient(hub);
  thief.cookies.set(COOKIE, id);
  expect(await isSignedIn(thief)).toBe(false);
});

test('[WEB-1] a page that needs an account leads to the sign-in page and back', async () => {
  const { email } = await newAccount();
  const client = new PageClient(hub);
  const answer = await client.send('/settings?from=here');
  expect([answer.status, answer.headers.location]).toEqual([303, '/signin?next=%2Fsettings%3Ffrom%3Dhere']);
  await client.open('/settings?from=here');
  await client.submit('/signin', { email, password: PASSWORD });
  expect([client.path, client.answer?.status]).toEqual(['/settings?from=here', 200]);
});

async function newAccount() {
  const email = freshEmail();
  await callTool(hub, 'signup_and_get_key', { email, password: PASSWORD });
  return { email };
}

test('[KEY-7, WEB-6] an unknown email and a wrong password are told in the same page, the email kept, the password not', async () => {
  const { email } = await newAccount();
  const pages: string[] = [];
  for (const who of [email, freshEmail()]) {
    const client = new PageClient(hub);
    await client.open('/signin');
    const answer = await client.submit('/signin', { email: who, password: 'not the password' });
    expect(answer.status).toBe(422);
    expect(client.text).toContain('Email or password is wrong.');
    expect(client.form('/signin').fields.get('email')).toBe(who);
    expect(client.html).not.toContain('not the password');
    const token = client.form('/signin').fields.get('csrf') ?? '';
    pages.push(client.html.replaceAll(who, 'EMAIL').replaceAll(token, 'TOKEN'));
  }
  expect(pages[0]).toBe(pages[1]);
});

test('[WEB-1, KEY-7] a sign-up that is refused keeps what was typed but the password, and says what is wrong where it is', async () => {
  const { email } = await newAccount();
  const client = new PageClient(hub);
  await client.open('/signup');
  expect((await client.submit('/signup', { email, name: 'Bob', password: '12345' })).status).toBe(422);
  expect(client.text).toContain('Password must have 6 to 1024 bytes, this one has 5.');
  expect(client.html).toMatch(
    /id="signup-password"[^>]*aria-describedby="[^"]*signup-password-error"[^>]*aria-invalid="true"/,
  );
  expect(client.form('/signup').fields.get('name')).toBe('Bob');
  expect(client.form('/signup').fields.get('password')).toBe('');
  expect((await client.submit('/signup', { email, password: PASSWORD })).status).toBe(422);
  expect(client.text).toContain('This email already has an account.');
});

test('[WEB-2] a session cookie is HttpOnly and SameSite=Lax, and its id stands nowhere in the data folder', async () => {
  const client = await signedUp(hub, freshEmail(), PASSWORD);
  const id = client.cookies.get(COOKIE) ?? '';
  expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(client.cookieAttributes.get(COOKIE)).toBe(
    `Path=/; HttpOnly; SameSite=Lax; Max-Age=${limits.browserSessionSeconds}`,
  );
  expect(readFileSync(join(hub.dataFolder, 'cairn.mdb')).includes(id)).toBe(false);
  expect(JSON.stringify(hub.logs)).not.toContain(id);
});

test('[WEB-2] under TLS, here or at a proxy that the public address tells of, the cookie is Secure and of this host alone', async () => {
  const { cert, key } = selfSigned();
  const hubs = await Promise.all([
    startHub({ env: { CAIRN_TLS_CERT: cert, CAIRN_TLS_KEY: key } }),
    startHub({ env: { CAIRN_PUBLIC_URL: 'https://hub.example', CAIRN_SIGNUP: 'open' } }),
  ]);
  for (const secure of hubs) {
    const client = new PageClient(secure);
    await client.open('/signin');
    expect([...client.cookieAttributes]).toEqual([[`__Host-${COOKIE}`, 'Path=/; HttpOnly; SameSite=Lax; Secure']]);
    await client.open('/signup');
    await client.submit('/signup', { email: freshEmail(), password: PASSWORD });
    expect(client.cookieAttributes.get(`__Host-${COOKIE}`)).toMatch(
      /^Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=/,
    );
    expect(await isSignedIn(client)).toBe(true);
    // The name without the prefix, which a neighbour could set, is not looked at.
    const plain = new PageClient(secure);
    plain.cookies.set(COOKIE, client.cookies.get(`__Host-${COOKIE}`) ?? '');
    expect(await isSignedIn(plain)).toBe(false);
    await secure.stop();
  }
});

test('[WEB-2] signing in gives a new id: one that was planted in the browser before opens nothing', async () => {
  const { email } = await newAccount();
  const planted = Buffer.alloc(32, 7).toString('base64url');
  const victim = new PageClient(hub);
  victim.cookies.set(COOKIE, planted);
  await signIn(email, PASSWORD, victim);
  expect(await isSignedIn(victim)).toBe(true);
  expect(victim.cookies.get(COOKIE)).not.toBe(planted);
  const attacker = new PageClient(hub);
  attacker.cookies.set(COOKIE, planted);
  expect(await isSignedIn(attacker)).toBe(false);
});

test('[WEB-2] signing in again ends the session that the browser had', async () => {
  const client = await signedUp(hub, freshEmail(), PASSWORD);
  const first = client.cookies.get(COOKIE) ?? '';
  const second = await newAccount();
  // The sign-in page of a signed-in browser leads on, so the form is one that was open before.
  const other = new PageClient(hub);
  other.cookies.set(COOKIE, first);
  await other.open('/settings');
  const fields = other.fieldsOf('/settings/keys', { name: undefined, email: second.email, password: PASSWORD });
  await other.post('/signin', fields);
  expect(await isSignedIn(other)).toBe(true);
  expect(other.text).toContain(second.email);
  const old = new PageClient(hub);
  old.cookies.set(COOKIE, first);
  expect(await isSignedIn(old)).toBe(false);
});

test('[WEB-2, KEY-5] a new password ends every other session and no key; the old password opens nothing', async () => {
  const email = freshEmail();
  const here = await signedUp(hub, email, PASSWORD);
  const [key] = /[0-9a-f]{64}/.exec(here.text) ?? [];
  const elsewhere = await signIn(email);
  await here.open('/settings');
  await here.submit('/settings/password', { current_password: 'wrong one', password: 'another battery' });
  expect([here.answer?.status, here.text]).toEqual([
    422,
    expect.stringContaining('This is not your current password.'),
  ]);
  expect(await isSignedIn(elsewhere)).toBe(true);
  await here.submit('/settings/password', { current_password: PASSWORD, password: 'short' });
  expect([here.answer?.status, here.text]).toEqual([
    422,
    expect.stringContaining('New password must have 6 to 1024 bytes'),
  ]);
  await here.submit('/settings/password', { current_password: PASSWORD, password: 'another battery' });
  expect(here.text).toContain('Password changed.');
  expect([await isSignedIn(here), await isSignedIn(elsewhere)]).toEqual([true, false]);
  expect(await structured(hub, 'list_tasks', {}, key)).toMatchObject({ count: 0 });
  expect(await isSignedIn(await signIn(email))).toBe(false);
  expect(await isSignedIn(await signIn(email, 'another battery'))).toBe(true);
});

/** Runs `cairn account password` with something piped in. */
function setPassword(email: string, input: string, dataFolder = hub.dataFolder) {
  return runCairn(['account', 'password', '--email', email, '--json'], { CAIRN_DATA: dataFolder }, input);
}

test('[AUTH-4] without mail, the sign-in page says who sets a new password, and how', async () => {
  const visitor = new PageClient(hub);
  await visitor.open('/signin');
  expect(visitor.text).toContain(
    'Forgot your password? This hub sends no mail. Ask its operator to run cairn account password',
  );
});

test('[WEB-2, KEY-7] the operator sets a password: for an account without one, or after a forgotten one, and it signs out', async () => {
  const { email } = await account(hub);
  expect(await isSignedIn(await signIn(email))).toBe(false);
  expect(await setPassword(email.toUpperCase(), `${PASSWORD}\nnot this line\n`)).toMatchObject({
    code: 0,
    stdout: `${JSON.stringify({ email })}\n`,
    stderr: '',
  });
  const client = await signIn(email);
  expect(await isSignedIn(client)).toBe(true);
  expect((await setPassword(email, 'another battery')).code).toBe(0);
  expect(await isSignedIn(client)).toBe(false);
  expect(await isSignedIn(await signIn(email))).toBe(false);
  expect(await isSignedIn(await signIn(email, 'another battery'))).toBe(true);
  for (const [who, input, sentence] of [
    [email, '12345\n', /password must have 6 to 1024 bytes/],
    [email, '', /password is missing/],
    ['nobody@example.org', 'some password', /no account has this email/],
  ] as const) {
    const refused = await setPassword(who, input);
    expect([refused.code > 0, refused.stdout, refused.stderr]).toEqual([true, '', expect.stringMatching(sentence)]);
  }
  expect(await isSignedIn(await signIn(email, 'another battery'))).toBe(true);
});

test('[WEB-2] the settings list the signed-in browsers, and end any but this one', async () => {
  const email = freshEmail();
  const here = await signedUp(hub, email, PASSWORD);
  const phone = new PageClient(hub, {
    'User-Agent': 'Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0',
  });
  await signIn(email, PASSWORD, phone);
  await here.open('/settings');
  expect(here.text).toContain('Firefox on Android');
  expect(here.text).toContain('this browser');
  const ends = here.forms.filter(({ action }) => action.startsWith('/settings/browsers/'));
  expect(ends.length).toBe(1);
  await here.submit(ends[0]?.action ?? '');
  expect([await isSignedIn(here), await isSignedIn(phone)]).toEqual([true, false]);
  const stranger = await signedUp(hub, freshEmail(), PASSWORD);
  await signIn(email, PASSWORD, phone);
  await here.open('/settings');
  const action = here.forms.find((form) => form.action.startsWith('/settings/browsers/'))?.action ?? '';
  await stranger.open('/settings');
  const answer = await stranger.post(action, stranger.fieldsOf('/settings/account-key'));
  expect(answer.status).toBe(404);
  expect(await isSignedIn(phone)).toBe(true);
});

test('[WEB-2] sessions outlive a restart', async () => {
  const own = await startHub();
  const client = await signedUp(own, freshEmail(), PASSWORD);
  await own.stop();
  const again = await startHub({ dataFolder: own.dataFolder });
  const back = new PageClient(again);
  back.cookies.set(COOKIE, client.cookies.get(COOKIE) ?? '');
  expect((await back.send('/settings')).status).toBe(200);
  await again.stop();
});

test('[WEB-2] a session ends when it was idle for too long, when it is too old, and when there are too many', async () => {
  const folder = temporaryFolder();
  const store = new Store({ folder, tables: [...accountTables, ...auditTables] });
  const actors = new ActorRegistry(store);
  let nowMs = Date.parse('2026-11-21T00:00:00Z');
  const sessions = new BrowserSessions({
    store,
    actors,
    sealer: createSealer(new Uint8Array(32)),
    log: openLog('silent').log,
    now: () => nowMs,
  });
  const pass = async (seconds: number) => {
    nowMs += seconds * 1000;
    // What was written meanwhile, uses of sessions, is on disk after this.
    await actors.account('acc_1').ask(() => null);
  };
  const source = auditSourceOf('user', '192.0.2.1', undefined);
  const idle = await sessions.start('acc_1', source);
  const used = await sessions.start('acc_1', source);
  const day = 24 * 3600;
  for (let days = 1; days * day < limits.browserSessionSeconds; days += 1) {
    await pass(day);
    expect(sessions.find(used)).toMatchObject({ accountId: 'acc_1' });
    if (days * day < limits.browserSessionIdleSeconds) expect(sessions.list('acc_1').length).toBe(2);
  }
  expect(sessions.find(idle)).toBeUndefined();
  await pass(day);
  expect(sessions.find(used)).toBeUndefined();
  expect(sessions.list('acc_1')).toEqual([]);
  const ids: string[] = [];
  for (let made = 0; made <= limits.browserSessionsMax; made += 1) {
    await pass(1);
    ids.push(await sessions.start('acc_1', source));
  }
  expect(sessions.list('acc_1').length).toBe(limits.browserSessionsMax);
  expect(ids.map((id) => sessions.find(id) !== undefined)).toEqual(ids.map((_, index) => index > 0));
  await actors.drain();
  await store.close();
});
