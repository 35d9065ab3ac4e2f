/** cairn whoami and what every client command shares: which hub, which key, and sentences for what goes wrong. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessToken } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, runCairn, startHub } from '../../support/hub.ts';
import { type Account, account } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let hub: Hub;
let owner: Account;

beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
});

afterAll(() => hub.stop());

/** Runs a client command with a config folder of its own. */
const client = (args: readonly string[], env: Record<string, string> = {}) =>
  runCairn(args, { XDG_CONFIG_HOME: temporaryFolder(), ...env });

/** The one sentence that a refused command writes, and its exit code. */
async function refusal(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await client(args, env);
  expect(stdout).toBe('');
  expect(stderr.trim().split('\n')).toHaveLength(1);
  return { code, sentence: stderr.trim() };
}

/** Answers every request in one way, and keeps what was asked. */
async function oddServer(status: number, headers: Record<string, string>, body: string) {
  const asked: { url: string; authorization: string | undefined; agent: string | undefined }[] = [];
  const server: Server = createServer((request, response) => {
    const { authorization, 'user-agent': agent } = request.headers;
    asked.push({ url: request.url ?? '', authorization, agent });
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, close: () => new Promise((resolve) => server.close(resolve)) };
}

test('[OAUTH-6, KEY-3] CAIRN_SERVER and CAIRN_KEY, an account key or an MCP key, are enough to be known', async () => {
  for (const key of [owner.mcp_key, owner.account_key]) {
    const { code, stdout } = await client(['whoami', '--json'], { CAIRN_SERVER: hub.url, CAIRN_KEY: key });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { server: hub.url, account_id: owner.account_id, email: owner.email, name: null },
    ]);
  }
  const plain = await client(['whoami', '--server', `${hub.url}/`], { CAIRN_KEY: owner.mcp_key });
  expect([plain.code, plain.stdout]).toEqual([0, expect.stringContaining(owner.email)]);
  expect(plain.stdout).not.toContain(owner.mcp_key);
});

test('[KEY-3, KEY-8] GET /api/account takes a key or a token and tells of its own account only', async () => {
  const token = await accessToken(hub, owner.email);
  for (const Authorization of [`McpKey ${owner.mcp_key}`, `McpKey ${owner.account_key}`, `Bearer ${token}`]) {
    const answer = await call(hub, '/api/account', { headers: { Authorization } });
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        account_id: owner.account_id,
        email: owner.email,
        name: null,
        timezone: null,
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
  }
  for (const Authorization of [`Bearer ${owner.mcp_key}`, `McpKey ${token}`, '']) {
    expect((await call(hub, '/api/account', { headers: { Authorization } })).status).toBe(401);
  }
});

test('[OAUTH-6] without a key and a sign-in the next step is named', async () => {
  const { code, sentence } = await refusal(['whoami', '--server', hub.url]);
  expect([code, sentence]).toEqual([1, expect.stringContaining(`cairn login --server ${hub.url}`)]);
});

test('[OAUTH-6] a key that the hub does not take, or that is none, is told without being shown', async () => {
  const unknown = randomBytes(32).toString('hex');
  const refused = await refusal(['whoami'], { CAIRN_SERVER: hub.url, CAIRN_KEY: unknown });
  expect([refused.code, refused.sentence]).toEqual([1, expect.stringContaining('CAIRN_KEY')]);
  const malformed = await refusal(['whoami'], { CAIRN_SERVER: hub.url, CAIRN_KEY: 'not-a-key-at-all' });
  expect([malformed.code, malformed.sentence]).toEqual([1, expect.stringContaining('CAIRN_KEY')]);
  expect(refused.sentence + malformed.sentence).not.toMatch(new RegExp(`${unknown}|not-a-key-at-all`));
});

test('[OAUTH-6] an address that is none, and a wrong option, are named', async () => {
  for (const wrong of ['hub.example.org', 'ftp://hub.example.org', 'https://me:secret@hub.example.org', '']) {
    expect(await refusal(['whoami', '--server', wrong])).toMatchObject({
      code: 1,
      sentence: expect.stringContaining('--server'),
    });
    // An empty variable is none.
    if (wrong !== '') expect((await refusal(['whoami'], { CAIRN_SERVER: wrong })).sentence).toContain('CAIRN_SERVER');
  }
  expect((await refusal(['whoami', '--sever', hub.url])).code).toBe(2);
});

test('[OAUTH-6] a hub that is not there, is another service, or sends elsewhere, is told apart', async () => {
  const key = { CAIRN_KEY: owner.mcp_key };
  const gone = await oddServer(200, {}, '');
  await gone.close();
  expect((await refusal(['whoami', '--server', gone.url], key)).sentence).toContain('cannot connect to');
  const other = await oddServer(404, { 'Content-Type': 'text/html' }, '<h1>Not found</h1>');
  expect((await refusal(['whoami', '--server', other.url], key)).sentence).toContain(
    'does not answer like a Cairn hub',
  );
  expect(other.asked).toEqual([
    { url: '/api/account', authorization: `McpKey ${owner.mcp_key}`, agent: expect.stringMatching(/^cairn\/\d+\.\d+/) },
  ]);
  await other.close();
  const elsewhere = await oddServer(302, { Location: `${hub.url}/api/account` }, '');
  expect((await refusal(['whoami', '--server', elsewhere.url], key)).sentence).toContain('redirects to');
  await elsewhere.close();
});

test('[OAUTH-6] a file of sign-ins that others can read, or that is none, is refused with what to do', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'cairn', 'credentials.json');
  mkdirSync(join(folder, 'cairn'));
  writeFileSync(file, JSON.stringify({ version: 1, current: null, servers: {} }), { mode: 0o600 });
  const env = { XDG_CONFIG_HOME: folder };
  expect((await refusal(['whoami'], env)).sentence).toContain('not signed in to http://127.0.0.1:8787');
  chmodSync(file, 0o640);
  expect((await refusal(['whoami'], env)).sentence).toContain('chmod 600');
  chmodSync(file, 0o600);
  for (const text of ['', '{', '{"version":2}', '[]']) {
    writeFileSync(file, text);
    expect((await refusal(['whoami'], env)).sentence).toContain('cannot be read by this version of cairn');
  }
});

test('[OAUTH-6, OPS-1] the client’s variables do not stop the service', async () => {
  const beside = await startHub({ env: { CAIRN_SERVER: hub.url, CAIRN_KEY: owner.mcp_key } });
  expect((await call(beside, '/health')).status).toBe(200);
  expect(await beside.stop()).toBe(0);
});
