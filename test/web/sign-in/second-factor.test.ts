/** Two-factor sign-in at every door where a password signs in, and asking for the password again. */
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, PASSWORD } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { PageClient, signedUp } from '../../support/page-client.ts';

let hub: Hub;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  expect(JSON.parse((await hub.cli('verify', '--json')).stdout)).toMatchObject({ ok: true, problems: [] });
  await hub.stop();
});

interface Protected {
  readonly email: string;
  readonly client: PageClient;
  readonly codes: readonly string[];
  /** The code of the period that is so many after this one. */
  readonly codeIn: (periods: number) => string;
}

/** An account with two-factor sign-in turned on. */
async function protectedAccount(email: string): Promise<Protected> {
  const client = await signedUp(hub, email, PASSWORD);
  await client.open('/settings');
  await client.submit('/settings/second-factor');
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(client.html)?.[1] ?? '').replaceAll(' ', '');
  const totp = new TOTP({ secret });
  const codeIn = (periods: number) => totp.generate({ timestamp: Date.now() + periods * 30_000 });
  await client.submit('/settings/second-factor/confirm', { code: codeIn(-1) });
  expect(client.text).toContain('Two-factor sign-in is on');
  const codes = [...client.text.matchAll(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){5}\b/g)].map(([code]) => code);
  return { email, client, codes: [...new Set(codes)], codeIn };
}

async function withPassword(email: string): Promise<PageClient> {
  const client = new PageClient(hub);
  await client.open('/signin');
  await client.submit('/signin', { email, password: PASSWORD });
  return client;
}

const isSignedIn = async (client: PageClient) => (await client.send('/settings')).status === 200;
const submitCode = (client: PageClient, code: string) => client.submit('/signin/code', { code });

test('[AUTH-3] a wrong code at the set-up is not told of recovery codes, which there are none of yet', async () => {
  const client = await signedUp(hub, 'clock@example.org', PASSWORD);
  await client.open('/settings');
  await client.submit('/settings/second-factor');
  expect((await client.submit('/settings/second-factor/confirm', { code: 'no code' })).status).toBe(422);
  expect(client.text).toContain('This code is wrong; scan the code on this page');
  expect(client.text).not.toContain('recovery code');
});

test('[AUTH-3] with a second factor the password alone opens nothing; a code signs in once, an earlier one never again', async () => {
  const { email, codeIn, codes } = await protectedAccount('two@example.org');
  expect(codes.length).toBe(10);
  const client = await withPassword(email);
  expect([client.path, await isSignedIn(client)]).toEqual(['/signin/code', false]);
  await client.open('/signin/code');
  expect((await submitCode(client, '000000')).status).toBe(422);
  const code = codeIn(0);
  await submitCode(client, code);
  expect(await isSignedIn(client)).toBe(true);
  const replay = await withPassword(email);
  expect((await submitCode(replay, code)).status).toBe(422);
  expect((await submitCode(replay, codeIn(-1))).status).toBe(422);
  expect(await isSignedIn(replay)).toBe(false);
});

test('[AUTH-3] a sign-in that waits for its code ends with the password it was begun with', async () => {
  const { email, client, codes } = await protectedAccount('changed@example.org');
  const waiting = await withPassword(email);
  await client.open('/settings');
  await client.submit('/settings/password', { current_password: PASSWORD, password: 'another battery' });
  expect(client.text).toContain('Password changed.');
  expect((await submitCode(waiting, codes[0] ?? '')).status).toBe(401);
  expect(await isSignedIn(waiting)).toBe(false);
});

test('[AUTH-3] a recovery code works once, however it is typed', async () => {
  const { email, codes } = await protectedAccount('lost@example.org');
  const [first = ''] = codes;
  const client = await withPassword(email);
  await submitCode(client, first.replaceAll('-', ' ').toUpperCase());
  expect(await isSignedIn(client)).toBe(true);
  const again = await withPassword(email);
  expect((await submitCode(again, first)).status).toBe(422);
  await client.open('/settings');
  expect(client.text).toContain('9 recovery codes left');
  expect(client.text).toContain('Recovery code used');
});

test('[AUTH-3] the tool for agents asks for the code as well, and many wrong ones are refused for a while', async () => {
  const { email, codeIn } = await protectedAccount('agent@example.org');
  const login = (code?: string) =>
    callTool(hub, 'login_and_get_key', { email, password: PASSWORD, ...(code === undefined ? {} : { code }) });
  expect((await login()).error).toMatchObject({ code: -32602 });
  for (let tries = 0; tries < 5; tries += 1) expect((await login('111111')).error).toMatchObject({ code: -32602 });
  expect((await login(codeIn(0))).error).toMatchObject({ code: -32029 });
});

test('[AUTH-3, OPS-7] the operator resets a lost second factor while the service runs; the password signs in, and it is on record', async () => {
  const { email } = await protectedAccount('reset@example.org');
  const reset = () => hub.cli('account', 'reset-2fa', '--email', email.toUpperCase());
  expect(await reset()).toMatchObject({ code: 0, stdout: expect.stringContaining('is off') });
  const client = await withPassword(email);
  expect(await isSignedIn(client)).toBe(true);
  const audit = await hub.cli('audit', '--email', email);
  expect(audit.stdout).toMatch(/Two-factor sign-in turned off.*operator|operator.*Two-factor sign-in turned off/);
  expect(await reset()).toMatchObject({ code: 1, stderr: expect.stringContaining('two-factor sign-in is off') });
});

test('[AUTH-3] turning it off needs the password', async () => {
  const { email, client } = await protectedAccount('off@example.org');
  await client.open('/settings');
  await client.submit('/settings/second-factor/off', { password: 'not my password' });
  expect(client.text).toContain('still on');
  await client.submit('/settings/second-factor/off', { password: PASSWORD });
  expect(client.text).toContain('Two-factor sign-in is off');
  expect(await isSignedIn(await withPassword(email))).toBe(true);
});

test('[AUTH-3] the set-up shows a QR code of the key, the codes are one block to copy, download or print, and who lost all is told what to do', async () => {
  const client = await signedUp(hub, 'scan@example.org', PASSWORD);
  await client.open('/settings');
  await client.submit('/settings/second-factor');
  const uri = decodeURIComponent(/href="(otpauth:[^"]+)"/.exec(client.html)?.[1] ?? '').replaceAll('&amp;', '&');
  expect(uri).toContain('secret=');
  const drawn = /<path class="qr-dark" d="([^"]+)"/.exec(client.html)?.[1] ?? '';
  // The three corners of every code begin with a row of seven dark modules.
  expect(drawn.startsWith('M4 4h7')).toBe(true);
  const { email, client: done, codes } = await protectedAccount('block@example.org');
  const file =
    /download="cairn-recovery-codes.txt" href="data:text\/plain;charset=utf-8,([^"]+)"/.exec(done.html)?.[1] ?? '';
  expect(decodeURIComponent(file).trim().split('\n')).toEqual(codes);
  expect(done.html.match(/data-copy/g)).toHaveLength(1);
  expect(done.html).toContain('data-print');
  const waiting = await withPassword(email);
  await waiting.open('/signin/code');
  expect(waiting.text).toContain(`cairn account reset-2fa --email ${email}`);
});

test('[AUTH-3] neither the secret nor a recovery code is in the log or in the list of events', async () => {
  const { codes, client } = await protectedAccount('quiet@example.org');
  await client.open('/settings');
  const told = JSON.stringify(hub.logs) + client.html;
  for (const code of codes) expect(told).not.toContain(code);
});
