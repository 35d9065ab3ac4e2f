/** The request id, the one log line of each request, and what must never be in a log. */
import { createHmac, randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { AGENT, call } from '../support/http.ts';
import type { LogLine } from '../support/hub.ts';
import {
  type Account,
  account,
  type Credential,
  credential,
  download,
  get,
  mirrorAccount,
  randomCommit,
  sha256,
  upload,
} from '../support/mirror.ts';
import { head, rawClient } from '../support/raw.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account & Credential;
let marks = 0;

beforeAll(async () => {
  owner = await mirrorAccount(hub);
});

/** Waits until the log has come as far as this moment. */
async function settleLog(): Promise<void> {
  marks += 1;
  const mark = `mark-${marks}`;
  await call(hub, '/health', { headers: { 'X-Request-Id': mark } });
  await hub.waitForLog((line) => line['id'] === mark);
}

async function linesOf(id: string): Promise<LogLine[]> {
  await settleLog();
  return hub.logs.filter((line) => line['id'] === id);
}

test.each(['a', '7', 'req-1', 'A.b_C-9', '...', 'x'.repeat(64)])(
  '[NET-6] the id %s of the caller is kept, in the answer and in the log',
  async (id) => {
    const answer = await call(hub, '/health', { headers: { 'X-Request-Id': id } });
    expect(answer.headers['x-request-id']).toBe(id);
    expect(await linesOf(id)).toMatchObject([{ msg: 'request', route: '/health', status: 200 }]);
  },
);

test.each(['', 'x'.repeat(65), 'with space', 'a/b', 'a,b', 'a;b', '"quoted"', '{}', 'caf\u00e9s', '<b>', '%0d%0a'])(
  '[NET-6] the id %j is replaced by a new one, in the answer and in the log',
  async (id) => {
    const answers = await Promise.all([1, 2].map(() => call(hub, '/health', { headers: { 'X-Request-Id': id } })));
    const given = answers.map((answer) => String(answer.headers['x-request-id']));
    for (const replaced of given) {
      expect(replaced).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      expect(replaced).not.toBe(id);
      expect(await linesOf(replaced)).toHaveLength(1);
    }
    expect(new Set(given).size).toBe(2);
    expect(await linesOf(id)).toEqual([]);
  },
);

test('[NET-6] refusals of every step carry the id and are logged under it', async () => {
  const id = (status: number) => ({ 'X-Request-Id': `refused-${status}` });
  const key = { Authorization: `McpKey ${owner.mcp_key}` };
  const path = '/api/cert_mirror/credentials';
  const asked: readonly (readonly [number, ReturnType<typeof call>])[] = [
    [403, call(hub, path, { headers: { ...id(403), 'User-Agent': 'curl/8' } })],
    [404, call(hub, '/nowhere', { headers: id(404) })],
    [405, call(hub, path, { method: 'PUT', headers: id(405) })],
    [401, call(hub, path, { method: 'POST', headers: id(401) })],
    [411, upload(hub, owner, randomCommit(), Buffer.of(1), { ...id(411), 'Transfer-Encoding': 'chunked' })],
    [415, call(hub, path, { method: 'POST', headers: { ...id(415), ...key }, body: '{}' })],
    [422, upload(hub, owner, 'nope', Buffer.of(1), id(422))],
  ];
  for (const [status, pending] of asked) {
    const answer = await pending;
    expect(answer.status).toBe(status);
    expect(answer.headers['x-request-id']).toBe(`refused-${status}`);
    expect(await linesOf(`refused-${status}`)).toMatchObject([{ status }]);
  }
  const client = await rawClient(hub.port);
  client.send(head('GET /health HTTP/1.1', ['X-Request-Id: refused-400', 'Content-Length: 0', 'Content-Length: 0']));
  const [refused] = await client.received(1);
  expect(refused?.headers['x-request-id']).toBe('refused-400');
  expect(await linesOf('refused-400')).toMatchObject([{ status: 400 }]);
});

test('[OPS-4] each request has exactly one line, with its facts', async () => {
  const commit = randomCommit();
  const body = randomBytes(5000);
  const since = hub.logs.length;
  const stored = await upload(hub, owner, commit, body, { 'X-Request-Id': 'one-line-put' });
  const read = await download(hub, owner, commit, { 'X-Request-Id': 'one-line-get' });
  await call(hub, '/nowhere/at/all', { headers: { 'X-Request-Id': 'one-line-none' } });
  expect([stored.status, read.status]).toEqual([200, 200]);
  await settleLog();
  const lines = hub.logs.slice(since).filter((line) => String(line['id']).startsWith('one-line-'));
  const facts = { msg: 'request', ms: expect.any(Number), address: '127.0.0.1', time: expect.any(String) };
  expect(lines).toEqual([
    expect.objectContaining({
      ...facts,
      id: 'one-line-put',
      method: 'POST',
      route: '/api/cert_mirror',
      status: 200,
      bytes_in: body.length,
      bytes_out: stored.bytes.length,
      account_id: owner.account_id,
    }),
    expect.objectContaining({
      ...facts,
      id: 'one-line-get',
      method: 'GET',
      route: '/api/cert_mirror/:sha/download',
      status: 200,
      bytes_in: 0,
      bytes_out: body.length,
      account_id: owner.account_id,
    }),
    expect.objectContaining({ ...facts, id: 'one-line-none', method: 'GET', status: 404 }),
  ]);
  for (const line of lines) expect(line['ms']).toBeGreaterThanOrEqual(0);
  expect(lines[2]).not.toHaveProperty('account_id');
});

test('[OPS-4] many requests at once have one line each', async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `many-${index}`);
  await Promise.all(ids.map((id) => call(hub, '/health', { headers: { 'X-Request-Id': id } })));
  await settleLog();
  const logged = hub.logs.map((line) => String(line['id'])).filter((id) => id.startsWith('many-'));
  expect(logged.sort()).toEqual([...ids].sort());
});

/** Sends secrets to where they belong and to where they do not; returns everything that may not be in a log. */
async function useSecretsEverywhere(): Promise<string[]> {
  const made = await account(hub);
  const first = await credential(hub, made.account_key);
  const second = await credential(hub, made.mcp_key, true);
  const extra = await hub.cli('key', 'create', '--email', made.email, '--name', 'spare', '--json');
  const spare = JSON.parse(extra.stdout) as { readonly mcp_key: string; readonly key_id: string };
  await hub.cli('key', 'revoke', '--email', made.email, '--id', spare.key_id);
  const body = Buffer.from(`-----BEGIN CERTIFICATE-----${randomBytes(24).toString('hex')}`);
  const commit = randomCommit();
  await upload(hub, second, commit, body);
  await upload(hub, first, commit, body);
  await upload(hub, { ...second, hmac_secret: first.hmac_secret }, commit, body);
  await upload(hub, second, commit, randomBytes(300_000));
  await download(hub, second, commit);
  const keys = [made.account_key, made.mcp_key, spare.mcp_key];
  const tokens = [first.token, second.token];
  const secrets = [first.hmac_secret, second.hmac_secret];
  const marker = `body-marker-${randomBytes(8).toString('hex')}`;
  const post = (headers: Record<string, string>, json: string) =>
    call(hub, '/api/cert_mirror/credentials', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: json,
    });
  await post({ Authorization: `McpKey ${made.mcp_key}` }, `{"rotate":"${marker}"}`);
  await post({ Authorization: `McpKey ${made.mcp_key}` }, `{"rotate":${marker}`);
  for (const secret of [...keys, ...tokens, ...secrets]) {
    await post({ Authorization: `Bearer ${secret}` }, '{}');
    await post({ Authorization: `McpKey  ${secret}` }, '{}');
    await post({ 'X-Api-Key': secret, Cookie: `key=${secret}` }, '{}');
    await get(hub, { token: secret }, '/latest');
    await call(hub, `/api/cert_mirror/${secret}/download?key=${secret}`);
    await call(hub, `/${secret}`, { headers: { Referer: `https://cairn.test/${secret}` } });
    await call(hub, '/health', { headers: { 'User-Agent': `${AGENT} ${secret}` } });
  }
  const signatures = secrets.map((secret) => createHmac('sha256', secret).update(body).digest('hex'));
  return [...keys, ...tokens, ...secrets, ...signatures, marker, body.toString(), sha256(body)];
}

test('[OPS-4] no key, token, secret, signature or content is ever in the log or on standard error', async () => {
  const before = hub.logs.length;
  const hidden = await useSecretsEverywhere();
  await settleLog();
  expect(hub.logs.length - before).toBeGreaterThan(50);
  const written = (JSON.stringify(hub.logs) + hub.stderr()).toLowerCase();
  const all = [...hidden, owner.account_key, owner.mcp_key, owner.token, owner.hmac_secret];
  const forms = all.flatMap((secret) => [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')]);
  expect(forms.filter((form) => written.includes(form.toLowerCase()))).toEqual([]);
  expect(written).not.toContain('mcpkey ');
  expect(written).not.toContain('bearer ');
});
