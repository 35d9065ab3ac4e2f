/** Security events as the owner of an account and the operator see them. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SecurityEvent } from '../../src/audit/log.ts';
import { callTool, PASSWORD } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { scrape } from '../support/metrics.ts';
import { account, credential } from '../support/mirror.ts';
import { PageClient, signedUp } from '../support/page-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let hub: Hub;
const TOKEN = 'a-token-for-metrics';

beforeAll(async () => {
  hub = await startHub({ env: { CAIRN_METRICS_TOKEN: TOKEN } });
});

afterAll(async () => {
  expect(JSON.parse((await hub.cli('verify', '--json')).stdout)).toMatchObject({ ok: true, problems: [] });
  await hub.stop();
});

async function eventsOf(email: string): Promise<SecurityEvent[]> {
  const { stdout } = await hub.cli('audit', '--email', email, '--json');
  return (JSON.parse(stdout) as { events: SecurityEvent[] }).events;
}

test('[AUD-1] what happens to an account is recorded with time, place and program, shown to its owner and the operator', async () => {
  const email = 'watched@example.org';
  const client = await signedUp(hub, email, PASSWORD);
  await client.open('/settings');
  await client.submit('/settings/keys', { name: 'laptop key' });
  const [secret = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const revoke = client.forms.find(({ action }) => action.endsWith('/revoke'));
  await client.submit(revoke?.action ?? '');
  await client.submit('/settings/account-key');
  const next = 'another long password';
  await client.submit('/settings/password', { current_password: 'not my password', password: next });
  await client.submit('/settings/password', { current_password: PASSWORD, password: next });
  await callTool(hub, 'login_and_get_key', { email, password: 'wrong guess' });
  await callTool(hub, 'login_and_get_key', { email, password: next });
  await hub.cli('token', 'create', '--email', email);
  await hub.cli('export', '--email', email, join(temporaryFolder(), 'archive'));
  await credential(hub, secret).catch(() => undefined);

  const events = await eventsOf(email);
  expect(events.map(({ act, by }) => `${act} ${by}`).sort()).toEqual(
    [
      'account_created stranger',
      'signed_in user',
      'key_created user',
      'key_revoked user',
      'account_key_replaced user',
      'sign_in_failed user',
      'password_changed user',
      'sign_in_failed stranger',
      'key_created user',
      'token_created operator',
      'account_exported operator',
    ].sort(),
  );
  const times = events.map(({ at }) => at);
  expect(times).toEqual([...times].sort().reverse());
  const made = events.find(({ detail }) => detail === 'laptop key');
  expect(made).toMatchObject({ address: '127.0.0.1', agent: 'cairn-test/1' });
  await client.open('/settings');
  expect(client.text).toContain('Recent security events');
  expect(client.text).toMatch(/Sign-in failed wrong password/);
  for (const text of [JSON.stringify(events), client.html]) {
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain(next);
    expect(text).not.toContain(secret);
  }
  const told = await hub.cli('audit', '--email', email, '--limit', '2');
  expect(told.stdout.trim().split('\n').length).toBe(2);
  expect((await hub.cli('audit', '--email', email, '--limit', 'many')).code).toBe(2);
});

test('[AUD-1] a failed sign-in is in the log with reason and address, and counted; the email is not logged', async () => {
  const { email } = await account(hub);
  const before = await scrape(hub.url, { Authorization: `Bearer ${TOKEN}` });
  await callTool(hub, 'login_and_get_key', { email: 'hunter2-typed-here@example.org', password: 'x-password' });
  await callTool(hub, 'login_and_get_key', { email, password: 'x-password' });
  const line = await hub.waitForLog((one) => one['reason'] === 'unknown email');
  expect(line).toMatchObject({ address: '127.0.0.1', msg: 'a sign-in failed' });
  await hub.waitForLog((one) => one['reason'] === 'no password set' && String(one['account_id']).startsWith('acc_'));
  expect(JSON.stringify(hub.logs)).not.toMatch(/hunter2-typed-here|x-password/);
  const after = await scrape(hub.url, { Authorization: `Bearer ${TOKEN}` });
  const failed = [before, after].map((at) => at.sum('cairn_sign_ins_failed_total', { reason: 'unknown email' }));
  expect(failed).toEqual([0, 1]);
});

test('[AUD-1] an account sees its own events only', async () => {
  const first = await signedUp(hub, 'one@example.org', PASSWORD);
  await first.open('/settings');
  await first.submit('/settings/keys', { name: 'a key of one' });
  const second = new PageClient(hub);
  await second.open('/signup');
  await second.submit('/signup', { email: 'two@example.org', password: PASSWORD });
  await second.open('/settings');
  expect(second.text).toContain('Account created');
  expect(second.text).not.toContain('a key of one');
});
