/** Dynamic registrations of OAuth clients store nothing and displace nothing. */
import { expect, test } from 'vitest';
import { consent, newProof, queryOf, REDIRECT, redeem, register, registerRaw } from '../../support/authorize.ts';
import { control } from '../../support/control.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { refresh, tokensOf } from '../../support/oauth.ts';
import { signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ env: { CAIRN_SIGNIN_LIMIT: '0', CAIRN_RATE_LIMIT: '0' }, loudest: 30, verified: true });
const REDIRECTS = { redirect_uris: ['https://app.example/callback'] };

test('[OAUTH-7] a flood of registrations stores no row, and clients from before it sign in', async () => {
  const browser = await signedUp(hub, 'owner@example.org', PASSWORD);
  const own = await control(hub, { command: 'client.add', name: 'Own', redirects: [REDIRECT] });
  const used = await register(hub);
  const proof = newProof();
  const location = await consent(browser, queryOf(used, proof));
  const tokens = tokensOf(await redeem(hub, used, location.searchParams.get('code') ?? '', proof));
  const unused = await register(hub);
  for (let round = 0; round < 21; round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => registerRaw(hub, REDIRECTS)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(new Set(answers.map((answer) => answer.json()['client_id'])).size).toBe(50);
  }
  const { stdout } = await hub.cli('stats', '--json');
  const { tables } = JSON.parse(stdout) as { tables: { name: string; rows: number }[] };
  const rowsOf = (name: string) => tables.find((table) => table.name === name)?.rows;
  // The operator's client is the only stored one.
  expect([rowsOf('oauth_clients'), rowsOf('oauth_client_expiries')]).toEqual([1, 0]);
  for (const id of [own.client_id, used, unused]) {
    expect((await browser.open(`/oauth/authorize?${queryOf(id, newProof())}`)).status).toBe(200);
  }
  tokensOf(await refresh(hub, tokens.refresh_token, { client_id: used }));
  await browser.open('/settings');
  expect(browser.text).toContain('Test agent');
});
