/** Dynamic registration of OAuth clients stays bounded. */
import { expect, test } from 'vitest';
import { consent, newProof, queryOf, REDIRECT, register, registerRaw } from '../../support/authorize.ts';
import { control } from '../../support/control.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ env: { CAIRN_SIGNIN_LIMIT: '0', CAIRN_RATE_LIMIT: '0' }, loudest: 30, verified: true });
const REDIRECTS = { redirect_uris: ['https://app.example/callback'] };

test('[OAUTH-4] a flood of registrations keeps the newest thousand; a client that was authorized stays, and so does the operator’s', async () => {
  const browser = await signedUp(hub, 'owner@example.org', PASSWORD);
  const own = await control(hub, { command: 'client.add', name: 'Own', redirects: [REDIRECT] });
  const used = await register(hub);
  await consent(browser, queryOf(used, newProof()));
  const unused = await register(hub);
  for (let round = 0; round < 21; round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => registerRaw(hub, REDIRECTS)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
  }
  const { stdout } = await hub.cli('stats', '--json');
  const { tables } = JSON.parse(stdout) as { tables: { name: string; rows: number }[] };
  const rowsOf = (name: string) => tables.find((table) => table.name === name)?.rows;
  // The operator's client is not one of the thousand.
  expect([rowsOf('oauth_clients'), rowsOf('oauth_client_expiries')]).toEqual([1001, 1000]);
  expect((await browser.open(`/oauth/authorize?${queryOf(own.client_id, newProof())}`)).status).toBe(200);
  expect((await browser.open(`/oauth/authorize?${queryOf(used, newProof())}`)).status).toBe(200);
  expect((await browser.open(`/oauth/authorize?${queryOf(unused, newProof())}`)).status).toBe(400);
});
