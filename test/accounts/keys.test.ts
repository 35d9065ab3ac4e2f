/** Accounts and keys, through the front door and the command line. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { control } from '../support/control.ts';
import { callTool } from '../support/gateway.ts';
import { type Answer, call } from '../support/http.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import {
  type Account,
  account,
  credential,
  download,
  get,
  mirrorAccount,
  randomCommit,
  upload,
} from '../support/mirror.ts';
import { head, rawClient } from '../support/raw.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface NewKey {
  readonly key_id: string;
  readonly name: string;
  readonly mcp_key: string;
}

interface ListedKey {
  readonly key_id: string;
  readonly kind: string;
  readonly name: string;
  readonly read_only: boolean;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

const PATH = '/api/cert_mirror/credentials';

let hub: Hub;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  await hub.stop();
});

function issue(authorization: string | undefined, body = '{}'): Promise<Answer> {
  return call(hub, PATH, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body,
  });
}

function createKey({ email }: Account, name: string): Promise<NewKey> {
  return control(hub, { command: 'key.create', email, name });
}

async function listKeys(owner: Account): Promise<ListedKey[]> {
  const listed = await hub.cli('key', 'list', '--email', owner.email, '--json');
  return (JSON.parse(listed.stdout) as { keys: ListedKey[] }).keys;
}

test('[KEY-1] an account has an account key of 24 characters and an MCP key of 64 hex', async () => {
  const owner = await account(hub);
  expect(owner.account_key).toMatch(/^[a-z0-9]{24}$/);
  expect(owner.mcp_key).toMatch(/^[0-9a-f]{64}$/);
  const other = await account(hub);
  expect(new Set([owner.account_key, owner.mcp_key, other.account_key, other.mcp_key]).size).toBe(4);
});

test('[KEY-1] either key opens credential issue, and both act on the one account', async () => {
  const owner = await account(hub);
  const byAccountKey = await issue(`McpKey ${owner.account_key}`);
  const byMcpKey = await issue(`McpKey ${owner.mcp_key}`);
  expect([byAccountKey.status, byMcpKey.status]).toEqual([200, 200]);
  expect(byAccountKey.json()).toMatchObject({ status: 'created' });
  expect(byMcpKey.json()).toMatchObject({ status: 'existing', token: byAccountKey.json()['token'] });
});

test('[KEY-1] a key made later opens the same account', async () => {
  const owner = await account(hub);
  const { token } = await credential(hub, owner.account_key);
  const later = await createKey(owner, 'laptop');
  expect(later).toMatchObject({ name: 'laptop', mcp_key: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect((await issue(`McpKey ${later.mcp_key}`)).json()).toMatchObject({ status: 'existing', token });
});

test('[KEY-1] account and MCP keys open nothing that takes a mirror token, and a token no issue', async () => {
  const owner = await mirrorAccount(hub);
  for (const key of [owner.account_key, owner.mcp_key, owner.hmac_secret]) {
    expect((await get(hub, { token: key }, '')).status).toBe(401);
  }
  expect((await issue(`McpKey ${owner.token}`)).status).toBe(401);
  expect((await get(hub, owner, '')).status).toBe(200);
});

const wrongForms: readonly (readonly [string, (key: string) => string | undefined])[] = [
  ['none at all', () => undefined],
  ['an empty one', () => ''],
  ['the key alone', (key) => key],
  ['the scheme alone', () => 'McpKey'],
  ['the scheme and a space', () => 'McpKey '],
  ['Bearer', (key) => `Bearer ${key}`],
  ['Basic', (key) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`],
  ['a lower-case scheme', (key) => `mcpkey ${key}`],
  ['an upper-case scheme', (key) => `MCPKEY ${key}`],
  ['two spaces', (key) => `McpKey  ${key}`],
  ['a tab', (key) => `McpKey\t${key}`],
  ['no space', (key) => `McpKey${key}`],
  ['a colon', (key) => `McpKey: ${key}`],
  ['quotes', (key) => `McpKey "${key}"`],
  ['something after the key', (key) => `McpKey ${key} x`],
  ['two credentials', (key) => `McpKey ${key}, McpKey ${key}`],
  ['an upper-case key', (key) => `McpKey ${key.toUpperCase()}`],
  ['a cut key', (key) => `McpKey ${key.slice(0, -1)}`],
  ['a longer key', (key) => `McpKey ${key}0`],
  ['a key with another last character', (key) => `McpKey ${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`],
  ['a wild card', () => 'McpKey *'],
  ['zeros', () => `McpKey ${'0'.repeat(64)}`],
  ['a very long value', () => `McpKey ${'a'.repeat(4000)}`],
];

test.each(wrongForms)('[KEY-4] Authorization with %s is 401 and names the scheme', async (_name, form) => {
  const owner = await account(hub);
  for (const key of [owner.mcp_key, owner.account_key]) {
    const answer = await issue(form(key));
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^McpKey\b/);
    expect(Object.keys(answer.json())).toEqual(['error']);
    expect(answer.text).not.toContain(key);
  }
  expect((await issue(`McpKey ${owner.mcp_key}`)).json()).toMatchObject({ status: 'created' });
});

test('[KEY-4] two Authorization lines are not one right one', async () => {
  const owner = await account(hub);
  const client = await rawClient(hub.port);
  const line = `Authorization: McpKey ${owner.mcp_key}`;
  client.send(head(`POST ${PATH} HTTP/1.1`, [line, line]));
  expect((await client.received(1))[0]?.status).toBe(401);
  client.vanish();
});

test('[KEY-4] a credential in the query or in another header opens nothing', async () => {
  const { token } = await mirrorAccount(hub);
  const headers = { 'X-Api-Key': token, Cookie: `token=${token}`, 'Proxy-Authorization': `McpKey ${token}` };
  expect((await call(hub, `/api/cert_mirror?token=${token}&authorization=McpKey%20${token}`, { headers })).status).toBe(
    401,
  );
});

test('[KEY-5] a revoked key is 401 at once, while the others go on', async () => {
  const owner = await account(hub);
  const extra = await createKey(owner, 'to be revoked');
  expect((await issue(`McpKey ${extra.mcp_key}`)).status).toBe(200);
  const revoked = await hub.cli('key', 'revoke', '--email', owner.email, '--id', extra.key_id, '--json');
  expect([revoked.code, JSON.parse(revoked.stdout)]).toEqual([
    0,
    { revoked: extra.key_id, signed_out: null, backup_credential: expect.stringMatching(/^\d{4}-/) },
  ]);
  const answer = await issue(`McpKey ${extra.mcp_key}`);
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toMatch(/^McpKey\b/);
  expect((await issue(`McpKey ${owner.mcp_key}`)).status).toBe(200);
  const again = await hub.cli('key', 'revoke', '--email', owner.email, '--id', extra.key_id);
  expect([again.code, again.stderr.trim().split('\n').length]).toEqual([1, 1]);
});

test('[KEY-5] who revokes a key hears of the credential of backups, which the key could read and which stays valid', async () => {
  const owner = await account(hub);
  const revoke = async ({ key_id }: NewKey) =>
    (await hub.cli('key', 'revoke', '--email', owner.email, '--id', key_id)).stdout;
  const first = await createKey(owner, 'before any backup');
  expect(await revoke(first)).toBe(`revoked ${first.key_id}\n`);
  const { token } = await credential(hub, owner.mcp_key);
  const told = await revoke(await createKey(owner, 'laptop'));
  expect(told).toMatch(/credential of backups stays valid.*`cairn backups init --rotate`.*`cairn help security`/);
  expect((await call(hub, '/api/cert_mirror', { headers: { Authorization: `McpKey ${token}` } })).status).toBe(200);
  const made = await hub.cli('key', 'create', '--email', owner.email, '--name', 'reads', '--read-only', '--json');
  const reads = JSON.parse(made.stdout) as NewKey;
  expect(await revoke(reads)).toBe(`revoked ${reads.key_id}\n`);
});

test('[KEY-5] a key has a name, a created time and, once used, a last-used time', async () => {
  const owner = await account(hub);
  const extra = await createKey(owner, '  Work laptop  ');
  const find = async () => (await listKeys(owner)).find((key) => key.key_id === extra.key_id);
  const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await find()).toMatchObject({ name: 'Work laptop', created_at: iso, last_used_at: null, revoked_at: null });
  expect((await issue(`McpKey ${extra.mcp_key}`)).status).toBe(200);
  await expect.poll(find, { timeout: 20_000 }).toMatchObject({ last_used_at: iso });
  const used = (await find())?.last_used_at;
  expect((await issue(`McpKey ${extra.mcp_key}`)).status).toBe(200);
  expect((await find())?.last_used_at).toBe(used);
});

test('[KEY-5] keys are shown once: no list shows one again', async () => {
  const owner = await account(hub);
  const extra = await createKey(owner, 'once');
  const texts = await Promise.all([
    hub.cli('key', 'list', '--email', owner.email),
    hub.cli('key', 'list', '--email', owner.email, '--json'),
  ]);
  for (const { code, stdout } of texts) {
    expect(code).toBe(0);
    expect(stdout).toContain('once');
    for (const key of [owner.account_key, owner.mcp_key, extra.mcp_key]) expect(stdout).not.toContain(key);
  }
  expect((await listKeys(owner)).map((key) => key.kind).sort()).toEqual(['account', 'mcp', 'mcp']);
});

test('[KEY-5] an account holds at most 50 live MCP keys; revoking one makes room', async () => {
  expect(limits.accountKeysLiveMax).toBe(50);
  const owner = await account(hub);
  for (let made = 2; made < 50; made += 1) await createKey(owner, `key ${made}`);
  const last = await createKey(owner, 'key 50');
  const refused = await hub.cli('key', 'create', '--email', owner.email, '--name', 'one too many');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('50');
  expect(refused.stdout).toBe('');
  expect((await hub.cli('key', 'revoke', '--email', owner.email, '--id', last.key_id)).code).toBe(0);
  const replaced = await createKey(owner, 'in its place');
  expect((await issue(`McpKey ${replaced.mcp_key}`)).status).toBe(200);
  expect((await hub.cli('key', 'create', '--email', owner.email, '--name', 'again')).code).toBe(1);
  expect((await issue(`McpKey ${owner.account_key}`)).status).toBe(200);
});

test('[KEY-5, OAUTH-5] cairn key create --read-only makes a key that reads and changes nothing, and lists say so', async () => {
  const owner = await account(hub);
  const create = (...more: string[]) => hub.cli('key', 'create', '--email', owner.email, '--name', 'ci', ...more);
  const { key_id: id, mcp_key: reading } = JSON.parse((await create('--read-only', '--json')).stdout) as NewKey;
  const { mcp_key: full } = JSON.parse((await create('--json')).stdout) as NewKey;
  const changes = { name: 'create_task', args: { content: 'x' } };
  expect((await callTool(hub, 'list_tasks', {}, reading)).error).toBeUndefined();
  expect((await callTool(hub, changes.name, changes.args, reading)).error?.message).toContain('this key may only read');
  expect((await callTool(hub, changes.name, changes.args, full)).error).toBeUndefined();
  const refused = await issue(`McpKey ${reading}`);
  expect([refused.status, refused.json()['error']]).toEqual([403, expect.stringContaining('also removes backups')]);
  const listed = (await hub.cli('key', 'list', '--email', owner.email)).stdout.trim().split('\n');
  expect(listed.filter((line) => line.includes('read only'))).toEqual([
    expect.stringMatching(new RegExp(`^${id} .*ci$`)),
  ]);
  const keys = (await listKeys(owner)).map(({ key_id, read_only: only }) => [key_id === id, only]);
  expect(keys.filter(([isIt, only]) => isIt !== only)).toEqual([]);
});

test.each([
  ['the same', 'Person@Example.org'],
  ['in lower case', 'person@example.org'],
  ['in upper case', 'PERSON@EXAMPLE.ORG'],
  ['with spaces around', '  Person@Example.org\t'],
])('[KEY-7] an email has one account: %s', async (_name, email) => {
  await hub.cli('account', 'create', '--email', 'Person@Example.org');
  const again = await hub.cli('account', 'create', '--email', email, '--json');
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('email');
  expect((await hub.cli('key', 'list', '--email', email)).code).toBe(0);
});

test.each(['', ' ', 'nobody', '@example.org', 'a@', 'a b@example.org', 'a@b@c', `${'x'.repeat(250)}@example.org`])(
  '[KEY-7] %j is not an email',
  async (email) => {
    const refused = await hub.cli('account', 'create', '--email', email);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('email');
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
  },
);

test('[KEY-8] issue with the key of one account creates, rotates and destroys there alone', async () => {
  const first = await mirrorAccount(hub);
  const second = await account(hub);
  const commit = randomCommit();
  const body = Buffer.from('of the first account');
  expect((await upload(hub, first, commit, body)).status).toBe(200);
  const made = await issue(`McpKey ${second.mcp_key}`);
  expect(made.json()).toMatchObject({ status: 'created' });
  expect(made.json()['token']).not.toBe(first.token);
  const rotated = (await issue(`McpKey ${second.account_key}`, '{"rotate":true}')).json() as { token: string };
  expect((await get(hub, rotated, '')).json()).toEqual({ blobs: [] });
  await call(hub, PATH, { method: 'DELETE', headers: { Authorization: `McpKey ${second.mcp_key}` } });
  expect((await get(hub, rotated, '')).status).toBe(401);
  expect((await issue(`McpKey ${first.mcp_key}`)).json()).toMatchObject({ status: 'existing', token: first.token });
  expect((await download(hub, first, commit)).bytes.equals(body)).toBe(true);
});

test('[KEY-8] the blob of another account answers exactly as one that does not exist', async () => {
  const first = await mirrorAccount(hub);
  const second = await mirrorAccount(hub);
  const commit = randomCommit();
  const stored = await upload(hub, first, commit, Buffer.from('private'));
  expect(stored.status).toBe(200);
  const facts = ({ status, text, headers }: Answer) => {
    const { 'x-request-id': _id, date: _date, ...rest } = headers;
    return { status, text, rest };
  };
  const foreign = await download(hub, second, commit);
  expect(foreign.status).toBe(404);
  expect(facts(foreign)).toEqual(facts(await download(hub, second, randomCommit())));
  const bySha = await get(hub, second, `/${commit}/download?sha256=${String(stored.json()['sha256'])}`);
  expect(facts(bySha)).toEqual(facts(foreign));
  expect((await get(hub, second, '')).json()).toEqual({ blobs: [] });
});

test('[KEY-8] no account can revoke a key of another', async () => {
  const [first, second] = [await account(hub), await account(hub)];
  const [target] = await listKeys(first);
  const refused = await hub.cli('key', 'revoke', '--email', second.email, '--id', target?.key_id ?? '');
  const unknown = await hub.cli('key', 'revoke', '--email', second.email, '--id', 'key_0000000000000000');
  expect(refused.code).toBe(1);
  expect(refused).toEqual(unknown);
  expect((await issue(`McpKey ${first.mcp_key}`)).status).toBe(200);
  expect((await issue(`McpKey ${first.account_key}`)).status).toBe(200);
});

test('[KEY-1] accounts and keys made without a running service open it later', async () => {
  const env = { CAIRN_DATA: temporaryFolder() };
  const made = await runCairn(['account', 'create', '--email', 'offline@example.org', '--json'], env);
  expect(made.code).toBe(0);
  const owner = JSON.parse(made.stdout) as Account;
  const key = ['--email', 'offline@example.org'];
  const second = await runCairn(['key', 'create', ...key, '--name', 'offline', '--json'], env);
  const third = await runCairn(['key', 'create', ...key, '--name', 'revoked offline', '--json'], env);
  const { key_id, mcp_key } = JSON.parse(third.stdout) as NewKey;
  expect((await runCairn(['key', 'revoke', ...key, '--id', key_id], env)).code).toBe(0);
  const later = await startHub({ dataFolder: env.CAIRN_DATA });
  try {
    const live = [owner.account_key, owner.mcp_key, (JSON.parse(second.stdout) as NewKey).mcp_key];
    for (const each of live) expect((await credential(later, each)).token).toMatch(/^[0-9a-f]{64}$/);
    await expect(credential(later, mcp_key)).rejects.toThrow('unknown or no longer valid');
  } finally {
    await later.stop();
  }
});

test('[KEY-5] [MIR-6] the store holds no key, token or secret, as text or as bytes', async () => {
  const own = await startHub();
  const made = await mirrorAccount(own);
  const rotated = await credential(own, made.account_key, true);
  const extra = await own.cli('key', 'create', '--email', made.email, '--name', 'findable-name', '--json');
  await upload(own, rotated, randomCommit(), Buffer.from('findable-content'));
  await own.stop();
  const secrets = [
    made.account_key,
    made.mcp_key,
    made.token,
    made.hmac_secret,
    rotated.token,
    rotated.hmac_secret,
    (JSON.parse(extra.stdout) as NewKey).mcp_key,
  ];
  const masterKey = readFileSync(join(own.dataFolder, 'master.key'), 'utf8').trim();
  const files = readdirSync(own.dataFolder).filter((name) => name !== 'master.key');
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(own.dataFolder, name))));
  // The search finds what is there in clear, so what it does not find is not there.
  expect(existsSync(join(own.dataFolder, 'cairn.mdb'))).toBe(true);
  for (const known of [made.email, 'findable-name', 'findable-content']) expect(bytes.includes(known)).toBe(true);
  const forms = [...secrets, masterKey].flatMap((secret) => [
    Buffer.from(secret),
    Buffer.from(secret.toUpperCase()),
    Buffer.from(Buffer.from(secret).toString('base64').replace(/=+$/, '')),
    ...(/^[0-9a-f]{64}$/.test(secret) ? [Buffer.from(secret, 'hex')] : []),
  ]);
  expect(forms.length).toBeGreaterThan(20);
  expect(forms.filter((form) => bytes.includes(form))).toEqual([]);
});
