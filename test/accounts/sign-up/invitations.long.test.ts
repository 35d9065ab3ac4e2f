/** Who may make an account: the default by where the hub listens, invitations, and how many a day. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callTool, mirrorTool, PASSWORD } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { PageClient } from '../../support/page-client.ts';

const PUBLIC = { CAIRN_PUBLIC_URL: 'https://hub.example.org' };
const running: Hub[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((hub) => hub.stop()));
});

async function hubWith(env: Record<string, string> = {}, dataFolder?: string): Promise<Hub> {
  const hub = await startHub({ env, ...(dataFolder === undefined ? {} : { dataFolder }) });
  running.push(hub);
  return hub;
}

const signUp = (hub: Hub, email: string, code?: string) =>
  mirrorTool(hub, 'signup_and_get_key', {
    email,
    password: PASSWORD,
    ...(code === undefined ? {} : { invite_code: code }),
  });

async function invite(hub: Hub, ...args: string[]): Promise<{ code: string; invite_id: string; link: string }> {
  const { code, stdout, stderr } = await hub.cli('invite', 'create', '--json', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

test.each([
  ['on loopback', {}, 200],
  ['with a public address', PUBLIC, 403],
  ['behind a proxy', { CAIRN_TRUSTED_PROXIES: '127.0.0.1' }, 403],
  ['on every address', { CAIRN_HOST: '0.0.0.0' }, 403],
  ['on every address, when the operator says so', { CAIRN_HOST: '0.0.0.0', CAIRN_SIGNUP: 'open' }, 200],
])('[ONB-4] %s a stranger is answered %o with %i', async (_, env, status) => {
  const hub = await hubWith(env);
  const answer = await signUp(hub, 'stranger@example.org');
  expect(answer.status).toBe(status);
  if (status === 403) expect(answer.text).toContain('invitation');
});

test('[ONB-4] an invitation admits as many accounts as it says, and none when it is used, revoked or invented', async () => {
  const hub = await hubWith(PUBLIC);
  const one = await invite(hub);
  expect(one.link).toBe(`https://hub.example.org/signup?invite=${one.code}`);
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => signUp(hub, `${name}@example.org`, one.code)));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 422, 422]);
  const two = await invite(hub, '--uses', '2');
  expect((await signUp(hub, 'd@example.org', two.code)).status).toBe(200);
  expect((await hub.cli('invite', 'revoke', '--id', two.invite_id)).code).toBe(0);
  const refused = await Promise.all([
    signUp(hub, 'e@example.org', two.code),
    signUp(hub, 'e@example.org', one.code),
    signUp(hub, 'e@example.org', `inv_${'A'.repeat(32)}`),
    signUp(hub, 'e@example.org', 'nonsense'),
  ]);
  expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
  expect(refused[0]?.json()).toMatchObject({ code: -32602, data: { field: 'invite_code' } });
  expect((await hub.cli('invite', 'list')).stdout).toContain('no open invitations');
});

test('[ONB-4] an invitation for an email admits that one only, a taken email uses none up, and closed is closed', async () => {
  const hub = await hubWith(PUBLIC);
  const { code } = await invite(hub, '--email', 'Ada@Example.org');
  expect((await signUp(hub, 'eve@example.org', code)).status).toBe(422);
  expect((await signUp(hub, ' ADA@example.org ', code)).status).toBe(200);
  const free = await invite(hub);
  expect((await signUp(hub, 'ada@example.org', free.code)).text).toContain('already has an account');
  await hub.stop();
  running.pop();
  const closed = await hubWith({ ...PUBLIC, CAIRN_SIGNUP: 'closed' }, hub.dataFolder);
  expect((await signUp(closed, 'bob@example.org', free.code)).status).toBe(403);
  await closed.stop();
  running.pop();
  const domains = await hubWith({ ...PUBLIC, CAIRN_SIGNUP: 'corp.example' }, hub.dataFolder);
  expect(domains.logs.find(({ msg }) => String(msg).includes('proves nothing'))).toBeDefined();
  expect((await signUp(domains, 'bob@example.org')).status).toBe(403);
  expect((await signUp(domains, 'bob@example.org', free.code)).status).toBe(200);
});

test('[ONB-4, OPS-4] the code is in neither the data file nor the log, and a wrong number is refused in words', async () => {
  const hub = await hubWith(PUBLIC);
  const { code, invite_id: id } = await invite(hub);
  await call(hub, `/signup?invite=${code}`);
  expect((await hub.cli('invite', 'list')).stdout).toContain(id);
  const wrong = [
    [1, '--uses', '0'],
    [1, '--days', '1000'],
    [2, '--uses', 'many'],
    [1, '--uses', '2', '--email', 'a@example.org'],
  ] as const;
  for (const [code, ...args] of wrong) expect(await hub.cli('invite', 'create', ...args)).toMatchObject({ code });
  await hub.stop();
  running.pop();
  expect(readFileSync(join(hub.dataFolder, 'cairn.mdb')).includes(code)).toBe(false);
  expect(JSON.stringify(hub.logs)).not.toContain(code);
});

test('[ONB-4, WEB-1] the link of an invitation opens the page with the code filled in', async () => {
  const hub = await hubWith(PUBLIC);
  const { code } = await invite(hub);
  const visitor = new PageClient(hub, { Origin: hub.url });
  await visitor.open('/signup');
  expect(visitor.text).toContain('by invitation');
  await visitor.submit('/signup', { email: 'ada@example.org', password: PASSWORD, invite_code: 'inv_wrong' });
  expect([visitor.answer?.status, visitor.text]).toEqual([422, expect.stringContaining('ask for a new invitation')]);
  await visitor.open(`/signup?invite=${code}`);
  await visitor.submit('/signup', { email: 'ada@example.org', password: PASSWORD });
  expect(visitor.answer?.status).toBe(200);
});

test('[ONB-4] a day has so many new accounts over all callers, also after a restart; who is invited still gets in', async () => {
  const env = { CAIRN_SIGNUPS_PER_DAY: '2', CAIRN_SIGNUP: 'open' };
  const hub = await hubWith(env);
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => signUp(hub, `${name}@example.org`)));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 429, 429]);
  const over = answers.find(({ status }) => status === 429);
  expect(over?.json()).toMatchObject({
    code: -32029,
    error: expect.stringMatching(/2 new accounts a day.*invitation/),
  });
  expect(Number(over?.headers['retry-after'])).toBeGreaterThan(0);
  await hub.stop();
  running.pop();
  const again = await hubWith(env, hub.dataFolder);
  const reply = await callTool(again, 'signup_and_get_key', { email: 'e@example.org', password: PASSWORD });
  expect(reply.error?.code).toBe(-32029);
  const visitor = new PageClient(again);
  await visitor.open('/signup');
  await visitor.submit('/signup', { email: 'f@example.org', password: PASSWORD });
  expect(visitor.text).toContain('2 new accounts a day');
  const { code } = await invite(again);
  expect((await signUp(again, 'g@example.org', code)).status).toBe(200);
  expect((await again.cli('account', 'create', '--email', 'h@example.org')).code).toBe(0);
});

test('[ONB-4] the first start says how the first account is made', async () => {
  const said = (hub: Hub) => hub.logs.find(({ msg }) => String(msg).includes('no account yet'))?.['msg'];
  const open = await hubWith();
  expect(said(open)).toContain(`open ${open.url}/signup`);
  const invited = await hubWith(PUBLIC);
  expect(said(invited)).toContain('cairn invite create');
  const closed = await hubWith({ CAIRN_SIGNUP: 'closed' });
  expect(said(closed)).toContain('cairn account create');
  await signUp(open, 'first@example.org');
  await open.stop();
  running.splice(running.indexOf(open), 1);
  expect(said(await hubWith({}, open.dataFolder))).toBeUndefined();
});

test.each(['open,example.org', '', 'a b', 'x@example.org'])(
  '[ONB-4, OPS-1] CAIRN_SIGNUP=%o stops the start',
  async (value) => {
    await expect(startHub({ env: { CAIRN_SIGNUP: value } })).rejects.toThrow('CAIRN_SIGNUP');
  },
);
