/** Strangers of one network who register clients and ask for device codes, behind a proxy: everybody else still gets in. */
import { expect, test } from 'vitest';
import { consent, newProof, queryOf, REDIRECT, redeem } from '../../support/authorize.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { postForm, tokensOf } from '../../support/oauth.ts';
import { signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({
  env: { CAIRN_SIGNIN_LIMIT: '10', CAIRN_RATE_LIMIT: '600', CAIRN_TRUSTED_PROXIES: '127.0.0.1', CAIRN_SIGNUP: 'open' },
  loudest: 30,
});
const OWNER = { 'X-Forwarded-For': '198.51.100.7' };
/** Addresses of 240 subscribers' networks (/64) within one household's (/56). */
const CROWD = Array.from({ length: 240 }, (_, n) => ({ 'X-Forwarded-For': `2001:db8:0:${n.toString(16)}::1` }));

const register = (headers: Readonly<Record<string, string>>) =>
  call(hub, '/oauth/register', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ client_name: 'Test agent', redirect_uris: [REDIRECT] }),
  });

/** What comes of several requests from each address of the crowd, by status. */
async function fromCrowd(
  rounds: number,
  send: (headers: Readonly<Record<string, string>>) => Promise<{ readonly status: number }>,
): Promise<Readonly<Record<number, number>>> {
  const seen: Record<number, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const { status } of await Promise.all(CROWD.map(send))) seen[status] = (seen[status] ?? 0) + 1;
  }
  return seen;
}

test('[OAUTH-7] a pending sign-in by browser outlives any number of registrations from one network', async () => {
  const browser = await signedUp(hub, 'owner@example.org', PASSWORD);
  const registered = await register(OWNER);
  expect(registered.status).toBe(201);
  const id = String(registered.json()['client_id']);
  const proof = newProof();
  expect((await browser.open(`/oauth/authorize?${queryOf(id, proof)}`)).status).toBe(200);
  await fromCrowd(5, register);
  expect((await browser.open(`/oauth/authorize?${queryOf(id, proof)}`)).status).toBe(200);
  const location = await consent(browser, queryOf(id, proof));
  tokensOf(await redeem(hub, id, location.searchParams.get('code') ?? '', proof));
});

test('[OAUTH-7, LIM-4] a network that asks for device codes keeps nobody else from them', async () => {
  const ask = (headers: Readonly<Record<string, string>>) =>
    postForm(hub, '/oauth/device_authorization', { client_id: 'cairn-test' }, headers);
  const seen = await fromCrowd(5, ask);
  expect(seen[503] ?? 0).toBe(0);
  // A household has twice what one of its networks has, in a minute.
  expect(seen[200] ?? 0).toBeLessThan(100);
  expect((await ask(OWNER)).status).toBe(200);
});
