/** cairn login, logout and what they keep, with real processes: approval, denial, renewal by one of many, leftovers of dead ones. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Unreachable } from '../../../src/client/client-error.ts';
import { nextInterval } from '../../../src/client/sign-in/device-login.ts';
import { Busy, Refused } from '../../../src/client/sign-in/oauth.ts';
import { startLogin } from '../../support/device-login.ts';
import { call } from '../../support/http.ts';
import { runCairn } from '../../support/hub.ts';
import { type Account, account } from '../../support/mirror.ts';
import { approve, isOpen, refresh, tokensOf } from '../../support/oauth.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

interface KeptLogin {
  readonly access_token: string;
  readonly access_expires_at: string;
  readonly refresh_token: string;
  readonly mcp_key: string | null;
  readonly device_name: string;
}

interface Kept {
  readonly current: string | null;
  readonly servers: Record<string, KeptLogin>;
}

/** The client_id of the command line. */
const COMMAND = { client_id: 'cairn' };
const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const fileOf = (folder: string) => join(folder, 'cairn', 'credentials.json');
const keptIn = (folder: string) => JSON.parse(readFileSync(fileOf(folder), 'utf8')) as Kept;
const client = (folder: string, ...args: string[]) => runCairn(args, { XDG_CONFIG_HOME: folder });

// A login polls every five seconds, so tests that count nothing of the hub run concurrently.

/** Signs a new folder in, approved by the operator. */
async function signedIn(...args: string[]): Promise<string> {
  const folder = temporaryFolder();
  const login = await startLogin(folder, '--server', hub.url, ...args);
  await approve(hub, login.code, owner.email);
  expect(await login.end()).toMatchObject({ code: 0, stderr: '' });
  return folder;
}

/** Leaves only an access token that has run out, so that the next command renews it. */
function makeStale(folder: string): KeptLogin {
  const kept = keptIn(folder);
  const login = {
    ...(kept.servers[hub.url] as KeptLogin),
    mcp_key: null,
    access_expires_at: '2026-01-01T00:00:00.000Z',
  };
  writeFileSync(fileOf(folder), JSON.stringify({ ...kept, servers: { [hub.url]: login } }));
  return login;
}

/** How many tokens the hub has given so far; the log comes through a pipe, so a last line of our own is waited for. */
async function tokensGiven(): Promise<number> {
  const id = randomUUID();
  await call(hub, '/health', { headers: { 'X-Request-Id': id } });
  await hub.waitForLog((line) => line['id'] === id);
  return hub.logs.filter((line) => line['route'] === '/oauth/token' && line['status'] === 200).length;
}

test.concurrent('[OAUTH-6] login shows where to approve, and keeps tokens and key for the owner’s eyes only; whoami and logout follow', async () => {
  const folder = temporaryFolder();
  const login = await startLogin(folder, '--server', `${hub.url}/`, '--name', 'build 7');
  await approve(hub, login.code, owner.email);
  const { code, stdout } = await login.end();
  expect(code).toBe(0);
  expect(stdout).toContain(`Open ${hub.url}/device in any browser`);
  expect(stdout).toContain(`${hub.url}/device?user_code=${login.code}`);
  expect(stdout).toContain(`Signed in to ${hub.url}. The hub lists this machine as build 7.`);
  expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'cairn')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, 'cairn'))).toEqual(['credentials.json']);
  const kept = keptIn(folder).servers[hub.url];
  expect(kept).toMatchObject({ device_name: 'build 7', mcp_key: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(stdout).not.toContain(kept?.mcp_key);
  // No server is named: the last sign-in is meant.
  const asked = await client(folder, 'whoami');
  expect([asked.code, asked.stdout]).toEqual([0, expect.stringMatching(new RegExp(`${owner.email}[^]*build 7`))]);
  // A folder that is synced here has the name of the machine.
  const place = ['--folder', temporaryFolder()];
  writeFileSync(join(place[1] ?? '', 'one.md'), '1\n');
  expect(await client(folder, 'sync', '--vault', 'of build 7', ...place)).toMatchObject({ code: 0 });
  const log = JSON.parse((await client(folder, 'sync', 'log', '--json', ...place)).stdout) as { files: object[] };
  expect(log.files).toMatchObject([{ path: 'one.md', device_id: expect.stringMatching(/^build-7-[0-9a-f]{8}$/) }]);
  const out = await client(folder, 'logout');
  expect([out.code, out.stdout]).toEqual([0, `Signed out of ${hub.url}.\n`]);
  expect(keptIn(folder)).toEqual({ version: 1, current: null, servers: {} });
  expect(await isOpen(hub, `Bearer ${kept?.access_token}`)).toBe(false);
  expect(await isOpen(hub, `McpKey ${kept?.mcp_key}`)).toBe(false);
  expect((await refresh(hub, kept?.refresh_token ?? '')).status).toBe(400);
  const again = await client(folder, 'logout', '--server', hub.url, '--json');
  expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { server: hub.url, was_signed_in: false }]);
});

test.concurrent('[OAUTH-6] a denied login ends with 1, keeps nothing, and says so', async () => {
  const folder = temporaryFolder();
  const login = await startLogin(folder, '--server', hub.url);
  await approve(hub, login.code, owner.email, false);
  expect(await login.end()).toMatchObject({
    code: 1,
    stderr: 'cairn: the sign-in was denied in the browser. Run `cairn login` to try again.\n',
  });
  expect(readdirSync(join(folder, 'cairn'))).toEqual([]);
});

test.concurrent('[OAUTH-6] with --json what a person has to do goes to standard error, and the result alone to standard output', async () => {
  const folder = temporaryFolder();
  const login = await startLogin(folder, '--server', hub.url, '--name', 'script', '--json');
  await approve(hub, login.code, owner.email);
  const { code, stdout } = await login.end();
  expect([code, JSON.parse(stdout)]).toEqual([0, { server: hub.url, device_name: 'script' }]);
});

test.concurrent('[OAUTH-6] signing in again ends the sign-in before it, and leaves other hubs alone', async () => {
  const folder = await signedIn('--name', 'first');
  const first = keptIn(folder).servers[hub.url];
  const elsewhere = 'https://elsewhere.example.org';
  const kept = keptIn(folder);
  const both = { ...kept, servers: { ...kept.servers, [elsewhere]: first } };
  writeFileSync(fileOf(folder), JSON.stringify(both));
  const login = await startLogin(folder, '--name', 'second');
  await approve(hub, login.code, owner.email);
  expect((await login.end()).code).toBe(0);
  const after = keptIn(folder);
  expect([after.current, after.servers[hub.url]?.device_name, after.servers[elsewhere]]).toEqual([
    hub.url,
    'second',
    first,
  ]);
  expect(await isOpen(hub, `McpKey ${first?.mcp_key}`)).toBe(false);
  expect(await isOpen(hub, `McpKey ${after.servers[hub.url]?.mcp_key}`)).toBe(true);
});

test('[OAUTH-6, KEY-6] of many commands at once with an expired token one renews it, and all go on', async () => {
  const folder = await signedIn();
  const stale = makeStale(folder);
  const before = await tokensGiven();
  const answers = await Promise.all(Array.from({ length: 6 }, () => client(folder, 'whoami', '--json')));
  expect(answers.map(({ code, stderr }) => [code, stderr])).toEqual(Array(6).fill([0, '']));
  expect((await tokensGiven()) - before).toBe(1);
  const renewed = keptIn(folder).servers[hub.url];
  expect(renewed?.refresh_token).not.toBe(stale.refresh_token);
  expect(Date.parse(renewed?.access_expires_at ?? '')).toBeGreaterThan(Date.now());
  expect(readdirSync(join(folder, 'cairn'))).toEqual(['credentials.json']);
});

test.concurrent('[OAUTH-6, KEY-6] killed between the hub’s renewal and its own writing, the next command goes on with the old token', async () => {
  const folder = await signedIn();
  const stale = makeStale(folder);
  // The hub renewed, and the process that asked is gone, with its lock still there.
  tokensOf(await refresh(hub, stale.refresh_token, COMMAND));
  const gone = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => gone.once('exit', resolve));
  writeFileSync(`${fileOf(folder)}.lock`, `${gone.pid} ${hostname()} leftover`);
  expect(await client(folder, 'whoami')).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(join(folder, 'cairn'))).toEqual(['credentials.json']);
});

test.concurrent('[OAUTH-6] a sign-in that has ended on the hub is told with what to do, and still signed out', async () => {
  const folder = await signedIn();
  const { refresh_token: token } = makeStale(folder);
  for (let turn = 0; turn < 3; turn += 1) await refresh(hub, token, COMMAND);
  const refused = await client(folder, 'whoami');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('has expired; run `cairn login`')]);
  expect((await client(folder, 'logout')).code).toBe(0);
});

test('[OAUTH-6] a hub that cannot be asked keeps the sign-in, unless it is to be forgotten here', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'cairn'), { mode: 0o700 });
  const gone = 'http://127.0.0.1:9';
  const login = { access_token: 'a', access_expires_at: '', refresh_token: 'r', mcp_key: null, device_name: 'd' };
  const kept = { version: 1, current: gone, servers: { [gone]: login } };
  writeFileSync(fileOf(folder), JSON.stringify(kept), { mode: 0o600 });
  const refused = await client(folder, 'logout');
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('--local')]);
  expect(keptIn(folder)).toEqual(kept);
  expect((await client(folder, 'logout', '--local')).code).toBe(0);
  expect(keptIn(folder).servers).toEqual({});
  expect((await client(folder, 'login', '--server', gone)).code).toBe(4);
});

test('[OAUTH-6] where nothing can be kept, login says so before anyone has to approve', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'cairn'), 'a file where the folder should be');
  const refused = await client(folder, 'login', '--server', hub.url);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^cairn: .*cannot be made \(\w+\)\.\n$/);
});

test('[OAUTH-6] polling keeps to the interval, longer after slow_down, a full hub or a network that fails', () => {
  const refused = (code: string) => new Refused(code, code);
  expect(nextInterval(refused('authorization_pending'), 5)).toBe(5);
  expect(nextInterval(refused('slow_down'), 5)).toBe(10);
  expect(nextInterval(new Busy('full', 30), 5)).toBe(30);
  expect(nextInterval(new Busy('full', 1), 5)).toBe(5);
  expect([5, 40, 60].map((seconds) => nextInterval(new Unreachable('gone', ''), seconds))).toEqual([10, 60, 60]);
  for (const code of ['access_denied', 'expired_token', 'invalid_grant']) {
    expect(nextInterval(refused(code), 5)).toBeUndefined();
  }
});
