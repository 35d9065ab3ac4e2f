/** The device flow by a raw HTTP client: exact answers, refusals, polling, one redemption, whose account it opens. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, structured } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import {
  approve,
  askDevice,
  CLIENT,
  DEVICE_GRANT,
  isOpen,
  poll,
  postForm,
  refusalOf,
  signInDevice,
  tokensOf,
} from '../support/oauth.ts';
import { head, rawClient } from '../support/raw.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const DEVICE = '/oauth/device_authorization';
const TOKEN = '/oauth/token';
const USER_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/;

let hub: Hub;
let owner: Account;

beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

test('[OAUTH-1] a device is given its codes, in the form of RFC 8628, 3.2, and no cache keeps them', async () => {
  const answer = await postForm(hub, DEVICE, { client_id: CLIENT });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': expect.stringMatching(/^application\/json/),
    'cache-control': 'no-store',
    pragma: 'no-cache',
  });
  const codes = answer.json();
  expect(codes).toEqual({
    device_code: expect.stringMatching(/^cdc_[A-Za-z0-9_-]{43}$/),
    user_code: expect.stringMatching(USER_CODE),
    verification_uri: `${hub.url}/device`,
    verification_uri_complete: `${hub.url}/device?user_code=${String(codes['user_code'])}`,
    expires_in: 600,
    interval: 5,
  });
});

test('[OAUTH-1] an address that could be anybody’s is never what people are sent to', async () => {
  const client = await rawClient(hub.port);
  const body = 'client_id=raw';
  const lines = ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`];
  client.send(head(`POST ${DEVICE} HTTP/1.1`, ['Host: evil.example', ...lines], { host: false }) + body);
  const [answer] = await client.received(1);
  expect([answer?.status, JSON.parse(answer?.body ?? '')]).toEqual([
    400,
    { error: 'invalid_request', error_description: expect.stringContaining('CAIRN_PUBLIC_URL') },
  ]);
  client.vanish();
});

test('[OAUTH-1] the same, byte for byte on the wire: a form in, JSON out, Content-Length exact', async () => {
  const client = await rawClient(hub.port);
  const body = `client_id=raw%20client&scope=mcp&device_name=K%C3%BCche&unknown=1`;
  const lines = ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`];
  client.send(head(`POST ${DEVICE} HTTP/1.1`, ['Host: localhost:80', ...lines], { host: false }) + body);
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(200);
  const codes = JSON.parse(answer?.body ?? '') as Record<string, string>;
  expect(codes['verification_uri']).toBe('http://localhost:80/device');
  await approve(hub, codes['user_code'] ?? '', owner.email);
  const polled = `grant_type=${encodeURIComponent(DEVICE_GRANT)}&device_code=${codes['device_code']}&client_id=raw+client`;
  client.send(head(`POST ${TOKEN} HTTP/1.1`, [...lines.slice(0, 1), `Content-Length: ${polled.length}`]) + polled);
  const [, tokens] = await client.received(2);
  expect([tokens?.status, tokens?.headers['cache-control'], tokens?.headers['pragma']]).toEqual([
    200,
    'no-store',
    'no-cache',
  ]);
  expect(Object.keys(JSON.parse(tokens?.body ?? '') as object)).toEqual([
    'access_token',
    'token_type',
    'expires_in',
    'refresh_token',
    'scope',
    'mcp_key',
  ]);
  client.socket.destroy();
  const listed = await hub.cli('key', 'list', '--email', owner.email);
  expect(listed.stdout).toContain('Küche');
});

test('[OAUTH-1, KEY-6] pending, then approved: tokens that open the account, once', async () => {
  const codes = await askDevice(hub, { device_name: 'kitchen' });
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'authorization_pending']);
  await approve(hub, codes.user_code.toLowerCase().replace('-', ' '), owner.email);
  const answer = await poll(hub, codes.device_code);
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  expect(answer.json()).toEqual({
    access_token: expect.stringMatching(/^cat_[A-Za-z0-9_-]{49}$/),
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: expect.stringMatching(/^crt_[A-Za-z0-9_-]{72}$/),
    scope: 'account',
  });
  const whose = await call(hub, '/api/account', {
    headers: { Authorization: `Bearer ${tokensOf(answer).access_token}` },
  });
  expect(whose.json()['account_id']).toBe(owner.account_id);
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'invalid_grant']);
});

test('[OAUTH-1] of many polls at the same moment one is given tokens', async () => {
  const codes = await askDevice(hub, { scope: 'mcp' });
  const before = await liveKeys();
  await approve(hub, codes.user_code, owner.email);
  const answers = await Promise.all(Array.from({ length: 8 }, () => poll(hub, codes.device_code)));
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  expect(answers.filter((answer) => answer.status === 400)).toHaveLength(7);
  expect(await liveKeys()).toBe(before + 1);
});

async function liveKeys(): Promise<number> {
  const { stdout } = await hub.cli('key', 'list', '--email', owner.email, '--json');
  return (JSON.parse(stdout) as { keys: { revoked_at: string | null }[] }).keys.filter((key) => key.revoked_at === null)
    .length;
}

test('[OAUTH-1, KEY-8] with scope mcp a new key comes along, named after the day and the device', async () => {
  const other = await account(hub);
  const tokens = await signInDevice(hub, other, { scope: 'mcp account', device_name: 'laptop <b>' });
  expect(tokens).toMatchObject({ scope: 'account mcp', mcp_key: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const whose = await call(hub, '/api/account', { headers: { Authorization: `McpKey ${tokens.mcp_key}` } });
  expect(whose.json()['email']).toBe(other.email);
  const { stdout } = await hub.cli('key', 'list', '--email', other.email);
  expect(stdout).toMatch(/\d{4}-\d\d-\d\d laptop <b>/);
});

test('[OAUTH-1] polling too fast is slow_down, and the interval stays longer', async () => {
  const codes = await askDevice(hub);
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'authorization_pending']);
  const early = await poll(hub, codes.device_code);
  expect([early.status, early.json()]).toEqual([
    400,
    { error: 'slow_down', error_description: expect.stringContaining('10 s') },
  ]);
  expect((await poll(hub, codes.device_code)).json()['error_description']).toContain('15 s');
  // Approved, it waits no longer.
  await approve(hub, codes.user_code, owner.email);
  expect((await poll(hub, codes.device_code)).status).toBe(200);
});

test('[OAUTH-1] a denied device is told so, and cannot be approved afterwards', async () => {
  const codes = await askDevice(hub);
  await approve(hub, codes.user_code, owner.email, false);
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'access_denied']);
  expect((await hub.cli('device', 'approve', codes.user_code, '--email', owner.email)).code).toBe(1);
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'access_denied']);
});

test('[OAUTH-1, KEY-8] who approved first has it: another account cannot take an approved device over', async () => {
  const other = await account(hub);
  const codes = await askDevice(hub);
  await approve(hub, codes.user_code, owner.email);
  const second = await hub.cli('device', 'approve', codes.user_code, '--email', other.email);
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('no device is waiting')]);
  const { access_token: token } = tokensOf(await poll(hub, codes.device_code));
  const whose = await call(hub, '/api/account', { headers: { Authorization: `Bearer ${token}` } });
  expect(whose.json()['account_id']).toBe(owner.account_id);
});

test('[OAUTH-1] a device code in other hands than those of its client is refused, and stays good for its own', async () => {
  const codes = await askDevice(hub);
  await approve(hub, codes.user_code, owner.email);
  expect(refusalOf(await poll(hub, codes.device_code, 'another'))).toEqual([400, 'invalid_grant']);
  expect((await poll(hub, codes.device_code)).status).toBe(200);
});

const wrongRequests: readonly (readonly [what: string, path: string, body: string, error: string])[] = [
  ['no client', DEVICE, '', 'invalid_request'],
  ['an empty client', DEVICE, 'client_id=', 'invalid_request'],
  ['a client of blanks', DEVICE, 'client_id=+', 'invalid_request'],
  ['a long client', DEVICE, `client_id=${'x'.repeat(101)}`, 'invalid_request'],
  ['a client that turns text round', DEVICE, 'client_id=a%E2%80%AEb', 'invalid_request'],
  ['a client of two lines', DEVICE, 'client_id=a%0Ab', 'invalid_request'],
  ['a client that is not UTF-8', DEVICE, 'client_id=%FF', 'invalid_request'],
  ['a client twice', DEVICE, 'client_id=a&client_id=a', 'invalid_request'],
  ['a long device name', DEVICE, `client_id=a&device_name=${'x'.repeat(101)}`, 'invalid_request'],
  ['an unknown scope', DEVICE, 'client_id=a&scope=admin', 'invalid_scope'],
  ['one unknown scope of two', DEVICE, 'client_id=a&scope=mcp+admin', 'invalid_scope'],
  ['a scope with two spaces', DEVICE, 'client_id=a&scope=mcp++account', 'invalid_scope'],
  ['no grant type', TOKEN, 'client_id=a', 'invalid_request'],
  ['another grant type', TOKEN, 'client_id=a&grant_type=password&username=a&password=b', 'unsupported_grant_type'],
  ['no device code', TOKEN, `client_id=a&grant_type=${encodeURIComponent(DEVICE_GRANT)}`, 'invalid_request'],
  ['no client with it', TOKEN, `device_code=a&grant_type=${encodeURIComponent(DEVICE_GRANT)}`, 'invalid_request'],
  [
    'an unknown device code',
    TOKEN,
    `client_id=a&device_code=a&grant_type=${encodeURIComponent(DEVICE_GRANT)}`,
    'invalid_grant',
  ],
  [
    'an endless device code',
    TOKEN,
    `client_id=a&device_code=${'a'.repeat(513)}&grant_type=${encodeURIComponent(DEVICE_GRANT)}`,
    'invalid_request',
  ],
  ['no refresh token', TOKEN, 'grant_type=refresh_token', 'invalid_request'],
  ['an unknown refresh token', TOKEN, 'grant_type=refresh_token&client_id=x&refresh_token=crt_x', 'invalid_grant'],
  ['a refresh without a client', TOKEN, 'grant_type=refresh_token&refresh_token=crt_x', 'invalid_request'],
  ['no token to revoke', '/oauth/revoke', '', 'invalid_request'],
];

test.each(wrongRequests)('[OAUTH-1] %s: %s is refused in the form of RFC 6749, 5.2', async (_, path, body, error) => {
  const answer = await postForm(hub, path, body);
  expect([answer.status, answer.json()]).toEqual([
    400,
    { error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/) },
  ]);
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
});

test('[OAUTH-1, NET-2] another media type, a large body, a secret of the client: the status of the rule, the form of OAuth', async () => {
  for (const path of [DEVICE, TOKEN, '/oauth/revoke']) {
    const typed = await postForm(hub, path, '{"client_id":"a"}', { 'Content-Type': 'application/json' });
    expect(refusalOf(typed)).toEqual([415, 'invalid_request']);
    expect(refusalOf(await postForm(hub, path, 'x'.repeat(17 * 1024)))).toEqual([413, 'invalid_request']);
    const basic = { Authorization: `Basic ${Buffer.from('a:b').toString('base64')}` };
    const secret = await postForm(hub, path, { client_id: 'a' }, basic);
    expect([...refusalOf(secret), secret.headers['www-authenticate']]).toEqual([
      401,
      'invalid_client',
      'Basic realm="cairn"',
    ]);
    expect((await call(hub, path)).status).toBe(405);
  }
});

test('[KEY-5, OAUTH-1] an account with all its keys is told before it approves, and by then nothing is made', async () => {
  const login = { email: 'full@example.org', password: PASSWORD };
  const full = await structured<Account>(hub, 'signup_and_get_key', login);
  for (let made = 1; made < 50; made += 1) await structured(hub, 'login_and_get_key', login);
  const codes = await askDevice(hub, { scope: 'mcp' });
  const refused = await hub.cli('device', 'approve', codes.user_code, '--email', full.email);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('50 active keys')]);
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'authorization_pending']);
  // Without a key there is room.
  expect(await signInDevice(hub, full)).not.toHaveProperty('mcp_key');
});

test('[OAUTH-1, KEY-5, OPS-4] neither codes nor tokens stand in the data file or in a log', async () => {
  const dataFolder = temporaryFolder();
  const first = await startHub({ dataFolder });
  const email = (await account(first)).email;
  const waiting = await askDevice(first);
  const codes = await askDevice(first, { scope: 'mcp' });
  await approve(first, codes.user_code, email);
  const tokens = tokensOf(await poll(first, codes.device_code));
  await first.stop();
  const again = await startHub({ dataFolder });
  // A hub that was restarted still knows who waits, and who is signed in.
  expect(refusalOf(await poll(again, waiting.device_code))).toEqual([400, 'authorization_pending']);
  expect(await isOpen(again, `Bearer ${tokens.access_token}`)).toBe(true);
  const verified = await again.cli('verify', '--json');
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, sign_ins: 1, device_grants: 1 });
  await again.stop();
  const files = readdirSync(dataFolder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const places = [
    JSON.stringify([first.logs, again.logs]),
    ...files.map((entry) => readFileSync(join(dataFolder, entry.name), 'latin1')),
  ];
  expect(places.some((place) => place.includes('sign_ins'))).toBe(true);
  const secrets = [waiting, codes].flatMap((one) => [
    one.device_code.slice(4),
    one.user_code,
    one.user_code.replace('-', ''),
  ]);
  for (const secret of [...secrets, tokens.refresh_token.slice(4), tokens.access_token.slice(4, 47), tokens.mcp_key]) {
    expect(places.filter((place) => place.includes(secret ?? '?'))).toEqual([]);
  }
});

test('[OPS-7] a device or a token is not made for a disabled account: the operator is told to enable it', async () => {
  const { email } = await account(hub);
  const codes = await askDevice(hub);
  await hub.cli('account', 'disable', '--email', email);
  for (const command of [
    ['device', 'approve', codes.user_code],
    ['token', 'create'],
  ]) {
    const refused = await hub.cli(...command, '--email', email);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('cairn account enable') });
  }
  // The device goes on waiting, and can still be denied.
  expect(refusalOf(await poll(hub, codes.device_code))).toEqual([400, 'authorization_pending']);
  await hub.cli('account', 'enable', '--email', email);
  expect((await hub.cli('device', 'approve', codes.user_code, '--email', email)).code).toBe(0);
});
