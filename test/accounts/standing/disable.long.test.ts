/** The operator's commands beside the running service: list, show, disable, enable, operator. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GATEWAY, mirrorTool, PASSWORD, structured, withKey } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { account, credential, download, randomCommit, upload } from '../../support/mirror.ts';
import { until } from '../../support/mirror-state.ts';
import { askDevice, poll, refresh, signInDevice } from '../../support/oauth.ts';
import { PageClient } from '../../support/page-client.ts';
import { Device } from '../../support/sync.ts';

const TOKEN = 'metrics-token-of-16';

let hub: Hub;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

async function accountCommand(name: string, email: string, ...more: string[]): Promise<Record<string, unknown>> {
  const done = await hub.cli('account', name, '--email', email, '--json', ...more);
  if (done.code !== 0) throw new Error(`account ${name} ended with ${done.code}: ${done.stderr}`);
  return JSON.parse(done.stdout);
}

/** Somebody with every kind of credential, and what each is answered. */
async function person(email: string) {
  const made = await structured<{ account_id: string; email: string; mcp_key: string; account_key: string }>(
    hub,
    'signup_and_get_key',
    { email, password: PASSWORD },
  );
  const mirror = await credential(hub, made.mcp_key);
  const commit = randomCommit();
  await upload(hub, mirror, commit, Buffer.from('a blob'));
  const tokens = await signInDevice(hub, made);
  const browser = new PageClient(hub);
  await browser.open('/signin');
  await browser.submit('/signin', { email, password: PASSWORD });
  const statuses = async () => [
    (await call(hub, '/api/account', { headers: { Authorization: `McpKey ${made.mcp_key}` } })).status,
    (await call(hub, '/api/account', { headers: { Authorization: `McpKey ${made.account_key}` } })).status,
    (await mirrorTool(hub, 'list_tasks', {}, withKey(made.mcp_key))).status,
    (await call(hub, '/api/tasks', { headers: { Authorization: `Bearer ${tokens.access_token}` } })).status,
    (await download(hub, mirror, commit)).status,
    (await upload(hub, mirror, randomCommit(), Buffer.from('more'))).status,
    (await browser.send('/settings')).status,
  ];
  return { ...made, tokens, browser, statuses };
}

const OPEN = [200, 200, 200, 200, 200, 200, 200];
const SHUT = [403, 403, 403, 403, 403, 403, 403];

test('[OPS-7] a disabled account is refused with every credential at once, and has all of them back when it is enabled', async () => {
  const { email, tokens, browser, statuses } = await person('ada@example.org');
  expect(await statuses()).toEqual(OPEN);
  expect(await accountCommand('disable', email)).toMatchObject({ email, disabled_at: expect.any(String) });
  expect(await statuses()).toEqual(SHUT);
  expect(browser.text).toContain('This account is disabled');
  const signIn = await mirrorTool(hub, 'login_and_get_key', { email, password: PASSWORD });
  expect([signIn.status, signIn.text]).toEqual([403, expect.stringContaining('operator')]);
  const wrong = await mirrorTool(hub, 'login_and_get_key', { email, password: 'wrong horse battery' });
  expect(wrong.status).toBe(401);
  expect([(await refresh(hub, tokens.refresh_token)).status]).toEqual([400]);
  const rpc = await call(hub, GATEWAY, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tokens.access_token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(rpc.text).toContain('disabled');
  expect(await accountCommand('enable', email)).toMatchObject({ disabled_at: null });
  expect(await statuses()).toEqual(OPEN);
  expect((await refresh(hub, tokens.refresh_token)).status).toBe(200);
});

test('[OPS-7] disabling is still there after a restart, and ends what waits and streams under the account', async () => {
  const own = await startHub({ env: { CAIRN_METRICS_TOKEN: TOKEN } });
  const { email, mcp_key: key } = await account(own);
  const device = new Device(own, key, 'laptop');
  await device.push('a.md', 'a');
  const { cursor } = await device.result<{ cursor: string }>('sync_pull', { initial: true });
  const waiting = device.result('sync_pull', { cursor, wait_seconds: 20 }).then(
    () => 'answered',
    () => 'cut off',
  );
  await until('the pull waits', async () => {
    const { text } = await call(own, '/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } });
    return text.includes('cairn_pulls_waiting 1') ? true : undefined;
  });
  await own.cli('account', 'disable', '--email', email);
  expect(await waiting).toBe('cut off');
  await own.stop();
  const again = await startHub({ dataFolder: own.dataFolder });
  const refused = await call(again, '/api/account', { headers: { Authorization: `McpKey ${key}` } });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('disabled')]);
  await again.stop();
  expect((await own.cli('account', 'enable', '--email', email)).code).toBe(0);
});

test('[OPS-7, AUD-1] what the operator does to an account is among its security events', async () => {
  const { email } = await account(hub);
  for (const act of ['disable', 'enable']) await accountCommand(act, email);
  await accountCommand('quota', email, '--blobs', '1GiB');
  await accountCommand('operator', email);
  await accountCommand('operator', email, '--remove');
  const { events } = JSON.parse((await hub.cli('audit', '--email', email, '--json')).stdout) as {
    events: { act: string; by: string }[];
  };
  expect(events.slice(0, 5).map(({ act, by }) => `${act} ${by}`)).toEqual([
    'account_operator operator',
    'account_operator operator',
    'account_quota operator',
    'account_enabled operator',
    'account_disabled operator',
  ]);
});

test('[OPS-7] a device that was let in before its account was disabled gets no tokens', async () => {
  const { email } = await account(hub);
  const codes = await askDevice(hub);
  expect((await hub.cli('device', 'approve', codes.user_code, '--email', email)).code).toBe(0);
  await accountCommand('disable', email);
  const answer = await poll(hub, codes.device_code);
  expect([answer.status, answer.json()['error']]).toEqual([400, 'invalid_grant']);
});

test('[OPS-7] accounts are listed with their use, over several pages, and found by their email', async () => {
  const big = await startHub();
  const emails = Array.from({ length: 60 }, (_, index) => `u${String(index).padStart(2, '0')}@example.org`);
  for (let at = 0; at < emails.length; at += 20) {
    const some = emails.slice(at, at + 20);
    await Promise.all(some.map((email) => structured(big, 'signup_and_get_key', { email, password: PASSWORD })));
  }
  const { stdout } = await big.cli('account', 'list', '--json');
  const listed = JSON.parse(stdout).accounts as { email: string; used_bytes: Record<string, number> }[];
  expect(listed.map(({ email }) => email)).toEqual(emails);
  const found = JSON.parse((await big.cli('account', 'list', '--search', 'u5', '--json')).stdout).accounts;
  expect(found).toHaveLength(10);
  const text = (await big.cli('account', 'list')).stdout.trim().split('\n');
  expect(text).toHaveLength(60);
  await big.stop();
});

test('[OPS-7] what an account uses is what it stored', async () => {
  const { email, mcp_key: key, account_id: id } = await account(hub);
  const mirror = await credential(hub, key);
  for (const bytes of [1000, 70_000]) await upload(hub, mirror, randomCommit(), Buffer.alloc(bytes));
  await new Device(hub, key, 'laptop').push('a.md', 'x'.repeat(500));
  await structured(hub, 'create_task', { content: 'x'.repeat(100) }, key);
  const shown = await accountCommand('show', email);
  expect(shown).toMatchObject({
    account_id: id,
    used_bytes: { blobs: 71_000, files: 500, documents: 100 + 1024 },
    operator: false,
    live_keys: 2,
  });
  expect(shown['last_seen_at']).toEqual(expect.any(String));
});

test('[WEB-3] the first account runs the hub, where only users of this machine could make it', async () => {
  const states = async (own: Hub, ...emails: string[]) =>
    await Promise.all(
      emails.map(
        async (email) => JSON.parse((await own.cli('account', 'show', '--email', email, '--json')).stdout).operator,
      ),
    );
  const local = await startHub();
  for (const email of ['a@example.org', 'b@example.org'])
    await structured(local, 'signup_and_get_key', { email, password: PASSWORD });
  expect(await states(local, 'a@example.org', 'b@example.org')).toEqual([true, false]);
  await local.cli('account', 'operator', '--email', 'b@example.org');
  await local.cli('account', 'operator', '--email', 'a@example.org', '--remove');
  expect(await states(local, 'a@example.org', 'b@example.org')).toEqual([false, true]);
  await local.stop();
  const open = await startHub({ env: { CAIRN_SIGNUP: 'open', CAIRN_PUBLIC_URL: 'https://hub.example.org' } });
  await structured(open, 'signup_and_get_key', { email: 'a@example.org', password: PASSWORD });
  expect(await states(open, 'a@example.org')).toEqual([false]);
  await open.stop();
});

test('[OPS-7] a command about nobody, or without a word, changes nothing', async () => {
  const { email } = await account(hub);
  const tries = [
    [1, 'no account has this email', ['account', 'disable', '--email', 'nobody@example.org']],
    [1, 'not confirmed', ['account', 'delete', '--email', email]],
    [1, 'not confirmed', ['account', 'delete', '--email', email, '--confirm', 'yes']],
    [2, 'needs --blobs', ['account', 'quota', '--email', email]],
    [2, 'number of bytes', ['account', 'quota', '--email', email, '--blobs', 'much']],
  ] as const;
  for (const [code, words, args] of tries) {
    const done = await hub.cli(...args);
    expect([done.code, done.stderr]).toEqual([code, expect.stringContaining(words)]);
  }
  expect(await accountCommand('show', email)).toMatchObject({ disabled_at: null });
});
