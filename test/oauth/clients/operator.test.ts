/** Clients registered by the operator: with and without a running hub, from the first sign-in to their removal. */
import { beforeAll, expect, test } from 'vitest';
import { consent, newProof, queryOf, REDIRECT, redeem, register, registerRaw } from '../../support/authorize.ts';
import { control } from '../../support/control.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { runCairn } from '../../support/hub.ts';
import { isOpen, refresh, refusalOf, tokensOf } from '../../support/oauth.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub, withHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 30, verified: true });
let browser: PageClient;

beforeAll(async () => {
  browser = await signedUp(hub, 'owner@example.org', PASSWORD);
});

const add = (name: string, ...redirects: string[]) => control(hub, { command: 'client.add', name, redirects });

async function codeFor(clientId: string) {
  const proof = newProof();
  const location = await consent(browser, queryOf(clientId, proof));
  return { proof, code: location.searchParams.get('code') ?? '' };
}

test('[OAUTH-4] an operator’s client signs in as registered by the operator, and its removal ends all of it', async () => {
  const added = await hub.cli('client', 'add', '--name', 'Team agent', '--redirect', REDIRECT, '--json');
  expect([added.code, added.stderr]).toEqual([0, '']);
  const client = JSON.parse(added.stdout) as { client_id: string };
  expect(client).toEqual({
    client_id: expect.stringMatching(/^ccl_[0-9a-f]{32}$/),
    client_name: 'Team agent',
    redirect_uris: [REDIRECT],
    created_at: expect.stringMatching(/Z$/),
  });
  const { client_id: id } = client;
  const { proof, code } = await codeFor(id);
  await browser.open(`/oauth/authorize?${queryOf(id, newProof())}`);
  expect(browser.text).toContain('Team agent registered by the operator');
  expect(browser.text).not.toContain('not verified');
  const tokens = tokensOf(await redeem(hub, id, code, proof));
  const other = await register(hub);
  const others = await codeFor(other);
  const kept = tokensOf(await redeem(hub, other, others.code, others.proof));
  const pending = await codeFor(id);

  const listed = await hub.cli('client', 'list');
  for (const part of [id, 'Team agent', REDIRECT]) expect(listed.stdout).toContain(part);
  expect(listed.stdout).not.toContain(other);
  const removed = await hub.cli('client', 'remove', '--id', id);
  expect([removed.code, removed.stdout]).toEqual([0, `Client ${id} is removed. Ended: 1 sign-in.\n`]);
  expect((await hub.cli('client', 'list')).stdout).not.toContain(id);

  const page = await browser.open(`/oauth/authorize?${queryOf(id, newProof())}`);
  expect([page.status, browser.text]).toEqual([400, expect.stringContaining('This app cannot sign in')]);
  expect(refusalOf(await redeem(hub, id, pending.code, pending.proof))).toEqual([400, 'invalid_grant']);
  expect(refusalOf(await refresh(hub, tokens.refresh_token, { client_id: id }))).toEqual([400, 'invalid_grant']);
  expect(await isOpen(hub, `Bearer ${tokens.access_token}`)).toBe(false);
  expect(await isOpen(hub, `Bearer ${kept.access_token}`)).toBe(true);
});

test('[OAUTH-4] only a client of the operator is removed', async () => {
  for (const id of [await register(hub), 'https://app.example/client.json', 'cairn-cli', 'ccl_0']) {
    const removing = control(hub, { command: 'client.remove', clientId: id });
    await expect(removing).rejects.toThrow('no client registered by the operator has this id');
  }
  const refused = await hub.cli('client', 'remove', '--id', 'ccl_0');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^cairn: no client .*\n$/)]);
});

test('[OAUTH-4] an operator’s redirect URIs and name obey the rules of registration, with the same sentences', async () => {
  const wrong: readonly (readonly [string, string[]])[] = [
    ['x', ['http://app.example/']],
    ['x', ['javascript:alert(1)']],
    ['x', ['https://app.example/#part']],
    ['x', ['https://a.example/', 'https://user@b.example/']],
    ['x', Array<string>(11).fill('https://app.example/')],
    ['x'.repeat(101), ['https://app.example/']],
  ];
  for (const [name, redirects] of wrong) {
    const registered = await registerRaw(hub, { client_name: name, redirect_uris: redirects });
    expect(registered.status).toBe(400);
    await expect(add(name, ...redirects)).rejects.toThrow(String(registered.json()['error_description']));
  }
  const unnamed = await hub.cli('client', 'add', '--name', ' ', '--redirect', REDIRECT);
  expect([unnamed.code, unnamed.stderr]).toEqual([1, 'cairn: the client needs a name that is not empty\n']);
  expect((await hub.cli('client', 'add', '--name', 'x')).code).toBe(2);
});

test('[OAUTH-4] the operator has at most 100 clients, and lists them however long they are', async () => {
  const long = (number: number) => `https://app.example/${number}/${'x'.repeat(900)}`;
  const redirects = Array.from({ length: 9 }, (_, number) => long(number));
  const { clients: before } = await control(hub, { command: 'client.list' });
  const room = 100 - before.length;
  await Promise.all(Array.from({ length: room }, () => add('Team agent', ...redirects)));
  await expect(add('Team agent', REDIRECT)).rejects.toThrow('remove one first');
  const { stdout } = await hub.cli('client', 'list', '--json');
  const { clients } = JSON.parse(stdout) as { clients: { client_id: string; redirect_uris: string[] }[] };
  expect(clients).toHaveLength(100);
  expect(clients.at(-1)?.redirect_uris).toEqual(redirects);
  await control(hub, { command: 'client.remove', clientId: clients.at(-1)?.client_id ?? '' });
  await add('Team agent', REDIRECT);
});

test('[OAUTH-4] the operator registers clients while no hub runs, and the next start serves them', async () => {
  const dataFolder = temporaryFolder();
  const cairn = (...args: string[]) => runCairn(args, { CAIRN_DATA: dataFolder });
  await cairn('account', 'create', '--email', 'first@example.org');
  const added = async (uri: string) => {
    const { stdout } = await cairn('client', 'add', '--name', 'Desktop', '--redirect', uri, '--json');
    return (JSON.parse(stdout) as { client_id: string }).client_id;
  };
  const id = await added(REDIRECT);
  const gone = await added('org.example.app:/callback');
  expect((await cairn('client', 'remove', '--id', gone)).code).toBe(0);
  const { stdout } = await cairn('client', 'list', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ clients: [{ client_id: id, redirect_uris: [REDIRECT] }] });
  await withHub({ dataFolder }, async (next) => {
    const visitor = await signedUp(next, 'visitor@example.org', PASSWORD);
    expect((await visitor.open(`/oauth/authorize?${queryOf(id, newProof())}`)).status).toBe(200);
    expect((await visitor.open(`/oauth/authorize?${queryOf(gone, newProof())}`)).status).toBe(400);
  });
});
