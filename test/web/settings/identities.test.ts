/** Linking an identity of the provider in the settings, with a browser without script. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { AUDIENCE, Issuer } from '../../support/issuer.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';

let hub: Hub;
let issuer: Issuer;
let count = 0;

beforeAll(async () => {
  issuer = await Issuer.start();
  hub = await startHub({ env: { CAIRN_IDP_ISSUER: issuer.url, CAIRN_IDP_AUDIENCE: AUDIENCE } });
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
  await issuer.close();
});

async function member(to = hub): Promise<PageClient> {
  count += 1;
  const client = await signedUp(to, `identity${count}@example.org`, PASSWORD);
  await client.open('/settings');
  return client;
}

/** What the gateway answers to a token of the provider. */
const statusOf = async (token: string) =>
  (
    await call(hub, '/api/mcp/tools/list_tasks', {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: '{}',
    })
  ).status;

const unlinkOf = ({ forms }: PageClient) =>
  forms.find(({ action }) => /^\/settings\/identities\/.*\/unlink$/.test(action))?.action ?? '';

test('[WEB-1, OAUTH-3] a token links its identity, which opens the account until it is unlinked', async () => {
  const client = await member();
  const token = await issuer.token('ada', { claims: { email: '<b>ada</b>@example.org' } });
  expect(await statusOf(token)).toBe(401);
  await client.submit('/settings/identities', { token: ` ${token}\n` });
  expect(client.text).toContain('“<b>ada</b>@example.org” is linked.');
  expect(client.html).not.toContain('<b>');
  expect(client.html).not.toContain(token);
  expect(await statusOf(token)).toBe(200);
  const other = await member();
  await other.submit('/settings/identities', { token });
  expect([other.answer?.status, other.text]).toEqual([422, expect.stringContaining('linked to another account')]);
  const action = unlinkOf(client);
  expect((await other.post(action, other.fieldsOf('/settings/account-key'))).status).toBe(404);
  expect(await statusOf(token)).toBe(200);
  await client.submit(action);
  expect(client.text).toContain('The identity is unlinked.');
  expect(await statusOf(token)).toBe(401);
});

test('[WEB-1, OAUTH-3, LIM-1] a wrong token links nothing and is not shown again; too many are a page of status 429', async () => {
  const client = await member();
  const wrong = await issuer.token('eve', { claims: { aud: 'https://elsewhere.example' } });
  for (let tries = 0; tries < limits.userCodeTriesMax; tries += 1) {
    await client.submit('/settings/identities', { token: wrong });
    expect([client.answer?.status, client.text]).toEqual([422, expect.stringContaining('is not a valid token of')]);
    expect(client.html).not.toContain(wrong);
  }
  const answer = await client.submit('/settings/identities', { token: await issuer.token('eve') });
  expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
  expect(await statusOf(await issuer.token('eve'))).toBe(401);
});

test('[WEB-1, OAUTH-3] without a provider the settings say nothing of one', async () => {
  const plain = await startHub();
  const client = await member(plain);
  expect(client.text).not.toContain('Identity provider');
  const answer = await client.post('/settings/identities', client.fieldsOf('/settings/account-key'));
  expect(answer.status).toBe(404);
  await plain.stop();
});
