/** The operator's pages: accounts, their state and quotas, invitations; nobody else finds them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { PageClient as Browser, type PageClient, signedUp } from '../../support/page-client.ts';

let hub: Hub;
let operator: PageClient;
let member: PageClient;

beforeAll(async () => {
  hub = await startHub();
  operator = await signedUp(hub, 'operator@example.org', PASSWORD);
  member = await signedUp(hub, 'member@example.org', PASSWORD);
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

const pathOf = async (email: string) =>
  `/accounts/${JSON.parse((await hub.cli('account', 'show', '--email', email, '--json')).stdout).account_id}`;

const statusOf = async (key: string) =>
  (await call(hub, '/api/account', { headers: { Authorization: `McpKey ${key}` } })).status;

test('[WEB-3] only operators find the pages, and their forms; others get what any unknown address gives', async () => {
  await member.open('/');
  expect(member.html).not.toContain('href="/accounts"');
  const path = await pathOf('operator@example.org');
  const unknown = await member.send('/no-such-page');
  for (const address of ['/accounts', path]) {
    const answer = await member.send(address);
    expect([answer.status, member.text.includes('Page not found')]).toEqual([unknown.status, true]);
  }
  await member.open('/settings');
  const fields = member.fieldsOf('/signout');
  for (const form of ['disable', 'enable', 'delete', 'quota']) {
    fields.set('confirm', 'operator@example.org');
    expect((await member.post(`${path}/${form}`, fields)).status).toBe(404);
  }
  expect((await member.post('/accounts/invitations', fields)).status).toBe(404);
  expect((await new Browser(hub).send('/accounts')).headers.location).toBe('/signin?next=%2Faccounts');
  await operator.open('/');
  expect(operator.html).toContain('href="/accounts"');
  expect((await operator.open('/accounts')).status).toBe(200);
  expect(operator.text).toContain('member@example.org');
});

test('[WEB-3, OPS-7] an operator disables, enables and deletes an account, but not their own', async () => {
  const { email, mcp_key: key } = await account(hub, 'someone@example.org');
  const path = await pathOf(email);
  await operator.open(path);
  await operator.submit(`${path}/disable`);
  expect([operator.text.includes('Account disabled'), await statusOf(key)]).toEqual([true, 403]);
  await operator.submit(`${path}/enable`);
  expect(await statusOf(key)).toBe(200);
  await operator.submit(`${path}/delete`, { confirm: 'someone@example.com' });
  expect([operator.answer?.status, await statusOf(key)]).toEqual([422, 200]);
  await operator.submit(`${path}/delete`, { confirm: ' Someone@example.org ' });
  expect([operator.text.includes('is deleted'), await statusOf(key)]).toEqual([true, 401]);
  const own = await pathOf('operator@example.org');
  await operator.open(own);
  expect(operator.html).not.toContain(`${own}/disable`);
  const fields = operator.fieldsOf(`${own}/quota`);
  expect((await operator.post(`${own}/disable`, fields)).status).toBe(422);
  expect((await operator.open('/accounts')).status).toBe(200);
  expect((await operator.open(path)).status).toBe(404);
});

test('[WEB-3, OPS-7] quotas are set in GiB, and an empty field is the setting of the hub', async () => {
  await account(hub, 'quota@example.org');
  const path = await pathOf('quota@example.org');
  await operator.open(path);
  await operator.submit(`${path}/quota`, { blobs: '0.5', files: 'much' });
  expect([operator.answer?.status, operator.text]).toEqual([422, expect.stringContaining('number of GiB')]);
  await operator.submit(`${path}/quota`, { files: '', keeps_writing: 'true' });
  const shown = async () =>
    JSON.parse((await hub.cli('account', 'show', '--email', 'quota@example.org', '--json')).stdout);
  expect(await shown()).toMatchObject({
    keeps_writing: true,
    quota_bytes: { blobs: 512 * 1024 ** 2, files: 5 * 1024 ** 3 },
  });
  expect(operator.text).toContain('512.0 MiB');
  await operator.submit(`${path}/quota`, { blobs: '' });
  expect(await shown()).toMatchObject({ quota_bytes: { blobs: 50 * 1024 ** 3 } });
});

test('[WEB-3, ONB-4] an invitation made on the page lets somebody in, and can be revoked', async () => {
  await operator.open('/accounts');
  await operator.submit('/accounts/invitations', { uses: 'none' });
  expect([operator.answer?.status, operator.text]).toEqual([422, expect.stringContaining('whole number')]);
  await operator.submit('/accounts/invitations', { email: '', uses: '2', days: '1' });
  const link = /\/signup\?invite=inv_[A-Za-z0-9_-]{32}/.exec(operator.html)?.[0];
  const guest = new Browser(hub);
  await guest.open(link ?? '');
  await guest.submit('/signup', { email: 'guest@example.org', password: PASSWORD });
  expect(guest.text).toContain('Account created');
  await operator.open('/accounts');
  expect(operator.html).not.toContain(link);
  const revoke = operator.forms.map(({ action }) => action).find((action) => action.endsWith('/revoke')) ?? '';
  await operator.submit(revoke);
  expect(operator.text).toContain('Invitation revoked.');
});

test('[WEB-3] the list is searched by the beginning of an email, and what it is given is shown as text', async () => {
  await account(hub, '"<b>x</b>"@example.org');
  await operator.open('/accounts?search=%22%3Cb');
  expect([operator.html.includes('<b>x</b>'), operator.text.includes('"<b>x</b>"@example.org')]).toEqual([false, true]);
  await operator.open('/accounts?search=nobody-');
  expect(operator.text).toContain('No account found');
  expect((await operator.open('/accounts/acc_000000000000000000000000')).status).toBe(404);
});
