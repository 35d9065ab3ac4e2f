/** The probes, HEAD, and connections that stay usable. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { call } from '../../support/http.ts';
import { type Account, type Credential, mirrorAccount, randomCommit, upload } from '../../support/mirror.ts';
import { head, rawClient } from '../../support/raw.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let owner: Account & Credential;
const commit = randomCommit();
const body = Buffer.from('bytes of a tarball');

beforeAll(async () => {
  owner = await mirrorAccount(hub);
  const stored = await upload(hub, owner, commit, body);
  if (stored.status !== 200) throw new Error(stored.text);
});

test('[NET-1] GET /health answers 200 with status, version, commit and uptime', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const git = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
  const built = git.status === 0 ? { commit: git.stdout.trim() } : {};
  const answer = await call(hub, '/health');
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toContain('application/json');
  expect(answer.json()).toEqual({ status: 'ok', version, ...built, uptime_seconds: expect.any(Number) });
  expect(Number(answer.json()['uptime_seconds'])).toBeGreaterThanOrEqual(0);
});

test('[NET-1] GET /ready answers 200 when the service takes requests', async () => {
  const answer = await call(hub, '/ready');
  expect(answer.status).toBe(200);
  expect(answer.json()).toEqual({ status: 'ready', checks: expect.any(Array) });
});

test.each(['/health', '/ready'])('[NET-1] %s needs no key and no User-Agent, and minds neither', async (path) => {
  for (const headers of [
    { 'User-Agent': undefined },
    { 'User-Agent': 'curl/8' },
    { Authorization: 'McpKey wrong' },
    { Authorization: 'nonsense' },
  ]) {
    expect((await call(hub, path, { headers })).status).toBe(200);
  }
  expect((await call(hub, `${path}?from=probe`)).status).toBe(200);
});

test('[NET-1] the uptime never goes down', async () => {
  const first = Number((await call(hub, '/health')).json()['uptime_seconds']);
  const second = Number((await call(hub, '/health')).json()['uptime_seconds']);
  expect(second).toBeGreaterThanOrEqual(first);
});

/** Every GET route, and what HEAD must say of it. */
const resources: readonly (readonly [name: string, path: string, status: number])[] = [
  ['health', '/health', 200],
  ['ready', '/ready', 200],
  ['list', '/api/cert_mirror', 200],
  ['latest', '/api/cert_mirror/latest', 200],
  ['download', `/api/cert_mirror/${commit}/download`, 200],
  ['unknown blob', `/api/cert_mirror/${'0'.repeat(40)}/download`, 404],
  ['unknown path', '/nowhere', 404],
];

test.each(resources)('[NET-9] HEAD of %s says what GET would, without a body', async (_name, path, status) => {
  const headers = { Authorization: `McpKey ${owner.token}` };
  const got = await call(hub, path, { headers });
  const client = await rawClient(hub.port, { ofHead: true });
  client.send(head(`HEAD ${path} HTTP/1.1`, [`Authorization: McpKey ${owner.token}`]));
  const [answer] = await client.received(1);
  expect([got.status, answer?.status]).toEqual([status, status]);
  for (const name of ['content-type', 'etag', 'x-tarball-sha256', 'accept-ranges', 'cache-control']) {
    expect(answer?.headers[name]).toBe(got.headers[name]);
  }
  expect(answer?.headers['content-length']).toBe(String(got.bytes.length));
  // The connection is at a request boundary: the next answer follows the head with nothing in between.
  client.send(head('HEAD /health HTTP/1.1'));
  const answers = await client.received(2);
  expect(answers.map((each) => each.status)).toEqual([status, 200]);
  expect(client.text().split('\r\n\r\n').at(-1)).toBe('');
  client.vanish();
});

test('[NET-9] HEAD without a credential is 401 as GET is', async () => {
  const client = await rawClient(hub.port, { ofHead: true });
  client.send(head('HEAD /api/cert_mirror HTTP/1.1'));
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(401);
  expect(answer?.headers['www-authenticate']).toContain('McpKey');
  client.vanish();
});

test('[NET-9] a connection is usable for a GET after a HEAD', async () => {
  const client = await rawClient(hub.port, { ofHead: true });
  client.send(head(`HEAD /api/cert_mirror/${commit}/download HTTP/1.1`, [`Authorization: McpKey ${owner.token}`]));
  await client.received(1);
  const from = client.text().length;
  client.send(head(`GET /api/cert_mirror/${commit}/download HTTP/1.1`, [`Authorization: McpKey ${owner.token}`]));
  await expect.poll(() => client.text().slice(from).endsWith(`\r\n\r\n${body.toString()}`)).toBe(true);
  client.vanish();
});
