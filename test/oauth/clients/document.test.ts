/** Client ID metadata documents: a client that is known by its address, and every document that must not be used. */

import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consent, newProof, queryOf, REDIRECT, redeem } from '../../support/authorize.ts';
import { selfSigned } from '../../support/certificate.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { tokensOf } from '../../support/oauth.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';

type Serve = (answer: ServerResponse, address: string) => void;

const certificate = selfSigned({ altNames: 'DNS:localhost,IP:127.0.0.1' });
const served = new Map<string, Serve>();
const asked: string[] = [];
let server: Server;
let origin: string;
/** Takes documents of private addresses; the strict one is as it is by default. */
let hub: Hub;
let strict: Hub;
let browser: PageClient;

beforeAll(async () => {
  const files = { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) };
  server = createServer(files, (incoming, answer) => {
    const path = incoming.url ?? '';
    asked.push(path);
    const serve = served.get(path);
    if (serve === undefined) answer.writeHead(404).end();
    else serve(answer, `${origin}${path}`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { NODE_EXTRA_CA_CERTS: certificate.cert, CAIRN_OAUTH_METADATA: 'on' };
  hub = await startHub({ env: { ...env, CAIRN_OAUTH_CLIENT_DOCUMENTS: 'private' } });
  strict = await startHub({ env });
  browser = await signedUp(hub, 'owner@example.org', PASSWORD);
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await Promise.all([hub.stop(), strict.stop()]);
});

/** Serves a document with these members changed, and gives its address. */
function documentAt(path: string, changes: Record<string, unknown> = {}, headers: Record<string, string> = {}): string {
  served.set(path, (answer, client_id) => {
    const document = { client_id, client_name: 'Известный агент', redirect_uris: [REDIRECT], ...changes };
    answer.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(document));
  });
  return origin + path;
}

test('[OAUTH-4] a client is known by the address of its document, which is fetched once', async () => {
  const clientId = documentAt('/good.json', { token_endpoint_auth_method: 'none', software_id: 'ignored' });
  const proof = newProof();
  await browser.open(`/oauth/authorize?${queryOf(clientId, proof)}`);
  expect(browser.text).toContain('Известный агент');
  expect(browser.text).toContain(`published by ${new URL(origin).host}`);
  const location = await consent(browser, queryOf(clientId, proof));
  const answer = await redeem(hub, clientId, location.searchParams.get('code') ?? '', proof);
  expect(tokensOf(answer).scope).toBe('read write');
  expect(asked.filter((path) => path === '/good.json')).toHaveLength(1);
});

/** What the page says of a client, and that it sent nobody anywhere. */
async function refused(clientId: string, client: PageClient = browser): Promise<string> {
  const answer = await client.open(`/oauth/authorize?${queryOf(clientId, newProof())}`);
  expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
  return client.text;
}

test.each<[string, string, Serve]>([
  ['redirects', 'redirects', (answer) => answer.writeHead(302, { Location: `${origin}/good.json` }).end()],
  ['redirects to itself', 'redirects', (answer, url) => answer.writeHead(307, { Location: url }).end()],
  ['is not there', 'status 404', (answer) => answer.writeHead(404).end()],
  ['is HTML', 'application/json', (answer) => answer.writeHead(200, { 'Content-Type': 'text/html' }).end('{}')],
  ['is not JSON', 'not valid JSON', (answer) => answer.writeHead(200, { 'Content-Type': 'application/json' }).end('{')],
  ['is null', 'client_id', (answer) => answer.writeHead(200, { 'Content-Type': 'application/json' }).end('null')],
  [
    'is huge',
    'larger than',
    (answer) => {
      answer.writeHead(200, { 'Content-Type': 'application/json' });
      answer.on('error', () => undefined).end(`{"x":"${'y'.repeat(10_000_000)}"}`);
    },
  ],
  ['has huge headers', 'cannot be reached', (answer) => answer.writeHead(200, { 'X-Long': 'y'.repeat(60_000) }).end()],
  [
    'never ends',
    'did not arrive',
    (answer) => answer.writeHead(200, { 'Content-Type': 'application/json' }).write('{'),
  ],
])('[OAUTH-4] a document that %s cannot be used', async (name, reason, serve) => {
  const path = `/${name.replaceAll(' ', '-')}`;
  served.set(path, serve);
  expect(await refused(origin + path)).toContain(reason);
});

test.each([
  ['another client_id', 'client_id must be', { client_id: 'https://other.example/client.json' }],
  ['no client_id', 'client_id must be', { client_id: undefined }],
  ['a secret', 'no secret', { token_endpoint_auth_method: 'client_secret_basic' }],
  ['a redirect that runs script', 'scheme', { redirect_uris: ['javascript:alert(1)'] }],
])('[OAUTH-4] a document with %s cannot be used', async (name, reason, changes) => {
  expect(await refused(documentAt(`/with-${name.replaceAll(' ', '-')}`, changes))).toContain(reason);
});

test.each([
  ['another form of the address', (url: string) => `${url}/../good.json`],
  ['a fragment', (url: string) => `${url}/good.json#x`],
  ['a user name', (url: string) => `${url.replace('//', '//user@')}/good.json`],
  ['no path', (url: string) => `${url}/`],
])('[OAUTH-4] an address with %s is not asked', async (_, change) => {
  asked.length = 0;
  await refused(change(origin));
  expect(asked).toEqual([]);
});

test('[OAUTH-4] by default no private address is asked, however it is written', async () => {
  const client = await signedUp(strict, 'owner@example.org', PASSWORD);
  asked.length = 0;
  documentAt('/good.json');
  const { port } = new URL(origin);
  for (const address of [
    `https://127.0.0.1:${port}/good.json`,
    `https://localhost:${port}/good.json`,
    'https://localhost/good.json',
    'https://127.0.0.1/good.json',
    'https://[::1]/good.json',
    'https://[::ffff:7f00:1]/good.json',
    'https://10.0.0.1/good.json',
    'https://169.254.169.254/latest/meta-data',
    'https://192.168.1.1/good.json',
  ]) {
    expect(await refused(address, client)).toMatch(/not public|must not name a port/);
  }
  expect(asked).toEqual([]);
});

test('[OAUTH-4, NET-11] slow documents that one account asks for keep nobody else from signing in', async () => {
  const other = await signedUp(hub, 'other@example.org', PASSWORD);
  const held: ServerResponse[] = [];
  const slow = Array.from({ length: 12 }, (_, at) => `/slow-${at}.json`);
  for (const path of slow) served.set(path, (answer) => void held.push(answer));
  const opened = slow.map((path) => browser.open(`/oauth/authorize?${queryOf(origin + path, newProof())}`));
  while (held.length < 6) await new Promise((resolve) => setTimeout(resolve, 10));
  const page = await other.open(`/oauth/authorize?${queryOf(documentAt('/quick.json'), newProof())}`);
  expect(page.status).toBe(200);
  for (const answer of held) answer.writeHead(404).end();
  const statuses = (await Promise.all(opened)).map(({ status }) => status);
  expect([...new Set(statuses)].toSorted((a, b) => a - b)).toEqual([400, 503]);
});
