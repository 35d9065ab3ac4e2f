/** Sign-up, sign-in and the setup guide, as a client without a credential uses them. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  callTool,
  GATEWAY,
  mirrorTool,
  PASSWORD,
  replyOf,
  structured,
  structuredOf,
  textOf,
  withKey,
} from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account, credential } from '../support/mirror.ts';

let hub: Hub;
let count = 0;

beforeAll(async () => {
  hub = await startHub();
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

const freshEmail = () => {
  count += 1;
  return `person${count}@example.org`;
};

const signUp = (email: string, password = PASSWORD, to = hub) =>
  callTool(to, 'signup_and_get_key', { email, password });
const signIn = (email: string, password = PASSWORD, to = hub) => callTool(to, 'login_and_get_key', { email, password });

async function newAccount(password = PASSWORD): Promise<Account> {
  return await structured<Account & Record<string, unknown>>(hub, 'signup_and_get_key', {
    email: freshEmail(),
    password,
  });
}

test('[ONB-1] a sign-up makes an account whose keys open everything that keys open', async () => {
  const email = freshEmail();
  const reply = await callTool(hub, 'signup_and_get_key', { email, password: PASSWORD, name: 'Ada Lovelace' });
  const made = structuredOf<Account>(reply);
  expect(made).toEqual({
    account_id: expect.stringMatching(/^acc_/),
    email,
    mcp_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    account_key: expect.stringMatching(/^[a-z0-9]{24}$/),
  });
  expect(textOf(reply)).toContain(made.mcp_key);
  for (const key of [made.mcp_key, made.account_key]) {
    expect(await structured(hub, 'list_tasks', {}, key)).toMatchObject({ count: 0 });
    expect((await credential(hub, key)).token).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('[ONB-1, KEY-7] a taken email is -32602 on the field email, in whatever case and with blanks around it', async () => {
  const { email, mcp_key: key } = await newAccount();
  for (const same of [email, email.toUpperCase(), `  ${email} `, email.replace('p', 'P')]) {
    const { error } = await signUp(same, 'another password');
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('email'), data: { field: 'email' } });
  }
  const answer = await mirrorTool(hub, 'signup_and_get_key', { email, password: PASSWORD });
  expect([answer.status, answer.json()]).toMatchObject([
    422,
    { code: -32602, errors: { email: [expect.any(String)] } },
  ]);
  expect((await signIn(email, 'another password')).error?.code).toBe(-32001);
  expect(await structured(hub, 'list_tasks', {}, key)).toBeDefined();
});

test('[KEY-7] of sign-ups with one email at the same time one makes the account', async () => {
  const email = `é${freshEmail()}`;
  const spellings = [email, email.toUpperCase(), ` ${email}`, email.normalize('NFD'), email];
  const replies = await Promise.all(spellings.map((one) => signUp(one)));
  expect(replies.filter(({ error }) => error === undefined)).toHaveLength(1);
  expect(replies.flatMap(({ error }) => error?.data?.['field'] ?? [])).toEqual(Array(4).fill('email'));
});

test.each(['plain', 'a@', '@example.org', 'a b@example.org', 'a@b@c', 'a@b\n.c', '', `${'x'.repeat(251)}@b.c`])(
  '[ONB-1] %j is not an email',
  async (email) => {
    expect((await signUp(email)).error).toMatchObject({ code: -32602, data: { field: 'email' } });
  },
);

test.each([
  ['5 letters', 'sesam'],
  ['one of the commonest', 'Sunshine1'],
  ['one of the commonest of 6 letters', 'qwerty'],
  ['5 bytes in 3 letters', 'ééa'],
  ['nothing', ''],
  ['1025 letters', 'x'.repeat(1025)],
  ['1025 bytes in 513 letters', `${'é'.repeat(512)}x`],
])('[KEY-7] a password of %s is refused and makes no account', async (_, password) => {
  const email = freshEmail();
  const { error } = await signUp(email, password);
  expect(error).toMatchObject({ code: -32602, data: { field: 'password' } });
  expect(error?.message).not.toContain(password === '' ? 'x'.repeat(20) : password);
  expect((await signUp(email)).error).toBeUndefined();
});

test.each([
  ['6 letters', 'samoid'],
  ['6 bytes in 3 letters', 'ééé'],
  ['1024 letters', 'x'.repeat(1024)],
  ['1024 bytes in 512 letters', 'é'.repeat(512)],
  ['blanks around it', '  pass word  '],
  ['a null character', 'pass\u0000word'],
])('[KEY-7, ONB-2] a password of %s is taken, and only it signs in', async (_, password) => {
  const { email } = await newAccount(password);
  expect((await signIn(email, password)).error).toBeUndefined();
  for (const other of [password.slice(0, -1), `${password}x`.slice(-1024), password.trim().slice(0, -1) || 'x']) {
    if (other !== password) expect((await signIn(email, other)).error?.code).toBe(-32001);
  }
});

test('[ONB-2, KEY-5] a sign-in gives another key, named after the day and the client', async () => {
  const made = await newAccount();
  const headers = { 'User-Agent': 'my-editor/2.0' };
  const answer = await mirrorTool(hub, 'login_and_get_key', { email: made.email, password: PASSWORD }, headers);
  const day = new Date().toISOString().slice(0, 10);
  const key = answer.json() as unknown as { mcp_key: string; account_id: string };
  expect(key).toEqual({
    account_id: made.account_id,
    key_id: expect.any(String),
    name: `${day} my-editor/2.0`,
    mcp_key: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(key.mcp_key).not.toBe(made.mcp_key);
  for (const either of [key.mcp_key, made.mcp_key]) {
    expect(await structured(hub, 'list_tasks', {}, either)).toMatchObject({ count: 0 });
  }
  const listed = await hub.cli('key', 'list', '--email', made.email, '--json');
  const { keys } = JSON.parse(listed.stdout) as { keys: { name: string; kind: string }[] };
  expect(keys.filter(({ kind }) => kind === 'mcp').map(({ name }) => name)).toContain(`${day} my-editor/2.0`);
});

test('[ONB-2] the key is in the text, and a client’s name of any length and letters makes one', async () => {
  const { email } = await newAccount();
  for (const agent of ['x'.repeat(500), 'müller/1', '   x']) {
    const answer = await call(hub, GATEWAY, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': agent },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'login_and_get_key', arguments: { email, password: PASSWORD } },
      }),
    });
    const reply = replyOf(answer);
    const { mcp_key: key, name } = structuredOf<{ mcp_key: string; name: string }>(reply);
    expect(textOf(reply)).toContain(key);
    expect(name.length).toBeLessThanOrEqual(100);
  }
});

test('[ONB-2, KEY-7] an email signs in in whatever case and with blanks around it', async () => {
  const { email, account_id } = await newAccount();
  const args = { email: ` ${email.toUpperCase()} `, password: PASSWORD };
  expect(await structured(hub, 'login_and_get_key', args)).toMatchObject({ account_id });
});

test('[KEY-7, ONB-2] an unknown email, a wrong password and an account without one answer alike', async () => {
  const { email } = await newAccount();
  const { email: withoutPassword } = await account(hub);
  const tries = [email, withoutPassword, 'nobody@example.org'];
  const bare = await Promise.all(tries.map((one) => signIn(one, 'wrong horse')));
  expect(bare[0]?.error?.code).toBe(-32001);
  expect(new Set(bare.map((reply) => JSON.stringify(reply))).size).toBe(1);
  const mirrored = await Promise.all(
    tries.map((one) => mirrorTool(hub, 'login_and_get_key', { email: one, password: 'wrong horse' })),
  );
  expect(mirrored.map(({ status }) => status)).toEqual([401, 401, 401]);
  expect(new Set(mirrored.map(({ text }) => text)).size).toBe(1);
  expect(mirrored[0]?.json()).toMatchObject({ error: expect.any(String), code: -32001 });
});

test('[ONB-2, KEY-4] a refused sign-in over the tool mirror names a scheme, as every 401 does', async () => {
  const answer = await mirrorTool(hub, 'login_and_get_key', { email: 'nobody@example.org', password: 'wrong horse' });
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, expect.stringMatching(/^McpKey/)]);
});

test('[ONB-4] with CAIRN_SIGNUP=closed nobody signs up, and whoever has an account is told apart from that', async () => {
  const closed = await startHub({ env: { CAIRN_SIGNUP: 'closed' } });
  try {
    const { error } = await signUp('a@example.org', PASSWORD, closed);
    expect(error).toMatchObject({ code: -32003, message: expect.stringMatching(/closed.*operator/) });
    const answer = await mirrorTool(closed, 'signup_and_get_key', { email: 'a@example.org', password: PASSWORD });
    expect([answer.status, answer.json()]).toMatchObject([403, { code: -32003, error: expect.any(String) }]);
    expect((await signIn('a@example.org', PASSWORD, closed)).error?.code).toBe(-32001);
    const { mcp_key: key } = await account(closed, 'a@example.org');
    expect(await structured(closed, 'list_tasks', {}, key)).toBeDefined();
  } finally {
    await closed.stop();
  }
});

test('[ONB-4] with email domains only those sign up, and sign-ins stay open', async () => {
  const some = await startHub({ env: { CAIRN_SIGNUP: 'example.org, Corp.Example' } });
  try {
    for (const email of ['a@example.org', 'b@CORP.example', ' c@Example.Org ']) {
      expect((await signUp(email, PASSWORD, some)).error).toBeUndefined();
      expect((await signIn(email, PASSWORD, some)).error).toBeUndefined();
    }
    for (const email of ['a@evil.org', 'a@sub.example.org', 'a@notexample.org', 'a@example.org.evil.org', 'a@corp']) {
      expect((await signUp(email, PASSWORD, some)).error?.code).toBe(-32003);
    }
  } finally {
    await some.stop();
  }
});

type Way = { where: string; paste: string };
type Guide = { url: string; steps: (Way & { client: string; title: string; with_key?: Way })[] };
const CLIENTS = [
  'claude-code',
  'claude-desktop',
  'claude-ai',
  'chatgpt',
  'cursor',
  'vscode',
  'codex',
  'gemini',
  'windsurf',
  'zed',
  'http',
];
const CONNECTORS = ['claude-ai', 'chatgpt'];

test('[ONB-3] the guide has a step for each client, with the URL of this hub', async () => {
  const guide = await structured<Guide>(hub, 'get_setup_guide', {});
  expect(guide.url).toBe(`${hub.url}${GATEWAY}`);
  expect(guide.steps.map(({ client }) => client)).toEqual(CLIENTS);
  const door = `${hub.url}/mcp`;
  for (const { client, paste, with_key: withKey } of guide.steps) {
    // Web applications reach only public hubs. A shell takes a key alone; all others sign in by browser, or with a key.
    if (CONNECTORS.includes(client))
      expect([paste, withKey]).toEqual([expect.stringContaining('CAIRN_PUBLIC_URL'), undefined]);
    else if (client === 'http')
      expect([paste, withKey]).toEqual([expect.stringContaining('McpKey <MCP key>'), undefined]);
    else {
      expect(paste).toContain(door);
      expect(paste).not.toContain('McpKey');
      expect(withKey?.paste).toContain(guide.url);
      expect(withKey?.paste).toContain('McpKey <MCP key>');
    }
  }
  const reply = await callTool(hub, 'get_setup_guide', {});
  for (const { title, paste } of guide.steps) {
    expect(textOf(reply)).toContain(title);
    expect(textOf(reply)).toContain(paste);
  }
});

test.each(CLIENTS)('[ONB-3] the guide for %s alone is one step that can be pasted', async (client) => {
  const { url, steps } = await structured<Guide>(hub, 'get_setup_guide', { client });
  expect(steps).toMatchObject([{ client, title: expect.any(String), where: expect.any(String) }]);
  const [{ paste, with_key: withKey } = { paste: '' }] = steps;
  if (client === 'claude-code') {
    expect(paste).toBe(`claude mcp add --transport http cairn ${hub.url}/mcp && claude mcp login cairn`);
    expect(withKey?.paste).toBe(
      `claude mcp add --transport http cairn ${url} --header "Authorization: McpKey <MCP key>"`,
    );
  } else if (client === 'codex') {
    expect(paste).toBe(`codex mcp add cairn --url ${hub.url}/mcp`);
    expect(withKey?.paste).toContain(`url = "${url}"`);
  } else if (client !== 'http' && !CONNECTORS.includes(client)) {
    expect(JSON.stringify(JSON.parse(paste))).toContain(`${hub.url}/mcp`);
    expect(JSON.stringify(JSON.parse(withKey?.paste ?? ''))).toContain(url);
  }
});

test('[ONB-3] the plain HTTP step works as it stands, with a key in it', async () => {
  const { steps } = await structured<Guide>(hub, 'get_setup_guide', { client: 'http' });
  const { mcp_key: key } = await newAccount();
  const script = (steps[0]?.paste ?? '').replace('<MCP key>', key);
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { structuredContent: { tasks: [] } } });
});

test('[ONB-3] the guide tells the public URL when there is one, and knows no other client', async () => {
  const behind = await startHub({ env: { CAIRN_PUBLIC_URL: 'https://hub.example.org/cairn/' } });
  try {
    const guide = await structured<Guide>(behind, 'get_setup_guide', { client: 'vscode' });
    expect(guide.url).toBe('https://hub.example.org/cairn/api/mcp');
    expect(guide.steps[0]?.paste).toContain('https://hub.example.org/cairn/mcp');
    for (const client of CONNECTORS) {
      const { steps } = await structured<Guide>(behind, 'get_setup_guide', { client });
      expect(steps[0]?.paste).toBe('https://hub.example.org/cairn/mcp');
    }
    const desktop = await structured<Guide>(behind, 'get_setup_guide', { client: 'claude-desktop' });
    expect(desktop.steps[0]?.paste).not.toContain('--allow-http');
  } finally {
    await behind.stop();
  }
  const { error } = await callTool(hub, 'get_setup_guide', { client: 'emacs' });
  expect(error).toMatchObject({ code: -32602, data: { field: 'client' } });
});

test('[KEY-7, KEY-5, OPS-4] neither passwords nor keys are in the logs or in the data folder', async () => {
  const password = 'unmistakable-pässword-72635';
  const made = await newAccount(password);
  const key = await structured(hub, 'login_and_get_key', { email: made.email, password });
  await signIn(made.email, `${password}-wrong`);
  await mirrorTool(hub, 'login_and_get_key', { email: made.email, password, unmistakable: password });
  await callTool(hub, 'list_tasks', {}, made.mcp_key);
  await call(hub, `${GATEWAY}/tools/login_and_get_key?password=unmistakable`, {
    method: 'POST',
    headers: withKey('x'),
  });
  const secrets = ['unmistakable', made.mcp_key, made.account_key, key['mcp_key'] as string];
  const files = readdirSync(hub.dataFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const places = [
    JSON.stringify(hub.logs),
    hub.stderr(),
    ...files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
  ];
  expect(files.length).toBeGreaterThan(0);
  expect(places.some((place) => place.includes(made.email))).toBe(true);
  for (const secret of secrets) expect(places.filter((place) => place.includes(secret))).toEqual([]);
  expect(places.some((place) => place.includes('$argon2id$'))).toBe(true);
});
