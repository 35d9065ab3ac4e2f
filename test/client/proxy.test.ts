/** Hubs that only a proxy reaches, and certificates that are not good: a backup is restored, or a sentence says what to mend. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { sendRequest } from '../../src/client/http.ts';
import { backupMachine, gitIn, testRepository } from '../support/backup-machine.ts';
import { selfSigned } from '../support/certificate.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { type CommandResult, type Hub, runCairn } from '../support/hub.ts';
import { canSetClocks, ProcessClock } from '../support/members.ts';
import type { Account } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

/** No machine knows this name; to the proxy it is this machine. */
const HOST = 'hub.cairn.test';
/** Addresses of examples (RFC 5737, RFC 3849), which no machine has. */
const ADDRESS = '192.0.2.1';
const ADDRESS_6 = '2001:db8::1';
const certificate = selfSigned({ altNames: `DNS:${HOST},IP:127.0.0.1,IP:${ADDRESS},IP:${ADDRESS_6}` });
const hub = useHub({ env: { CAIRN_TLS_CERT: certificate.cert, CAIRN_TLS_KEY: certificate.key } });
const plain = useHub();
const keys = new Map<Hub, Account>();

beforeAll(async () => {
  for (const each of [hub, plain]) {
    const made = await each.cli('account', 'create', '--email', 'a@example.org', '--json');
    keys.set(each, JSON.parse(made.stdout) as Account);
  }
});

/** The proxy of the network that the tests run in. */
const OWN = Object.keys(process.env).filter((name) => /_proxy$/i.test(name));
beforeEach(() => {
  for (const name of OWN) vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

const settingsOf = (to: Hub, env: Record<string, string>) => ({
  CAIRN_KEY: keys.get(to)?.mcp_key ?? '',
  CAIRN_SERVER: `${new URL(to.url).protocol}//${HOST}:${to.port}`,
  NODE_EXTRA_CA_CERTS: certificate.cert,
  XDG_CONFIG_HOME: temporaryFolder(),
  ...env,
});

const tasks = (to: Hub, env: Record<string, string>): Promise<CommandResult> =>
  runCairn(['tasks'], settingsOf(to, env));

test('[CLI-9] a backup is pushed and restored through the proxy of HTTPS_PROXY, with its password', async () => {
  const proxy = await connectProxy();
  const env = settingsOf(hub, { HTTPS_PROXY: `http://job:s%40cret@127.0.0.1:${proxy.port}` });
  const machine = backupMachine({ url: env.CAIRN_SERVER }, keys.get(hub) as Account, env);
  const { folder, commit } = testRepository(3_000_000);
  expect(await machine.cairn('init')).toMatchObject({ code: 0 });
  expect(await machine.cairnIn(folder, 'push')).toMatchObject({ code: 0 });
  const restored = join(temporaryFolder(), 'restored');
  expect(await machine.cairnIn(folder, 'pull', '--output', restored)).toMatchObject({ code: 0 });
  expect(gitIn(restored, 'rev-parse', 'HEAD')).toBe(commit);
  const credential = Buffer.from('job:s@cret').toString('base64');
  expect([...new Set(proxy.asked)]).toEqual([`CONNECT ${HOST}:${hub.port} Basic ${credential}`]);
});

test('[CLI-9] a hub without TLS is reached through http_proxy, and HTTP_PROXY is not read', async () => {
  const proxy = await connectProxy();
  const address = `127.0.0.1:${proxy.port}`;
  expect(await tasks(plain, { http_proxy: address })).toMatchObject({ code: 0 });
  expect(proxy.asked).toContain(`POST http://${HOST}:${plain.port}/api/mcp`);
  const asked = proxy.asked.length;
  expect(await tasks(plain, { HTTP_PROXY: address })).toMatchObject({ code: 4 });
  expect(proxy.asked).toHaveLength(asked);
});

test('[CLI-9] a hub at an address is reached through the proxy, and its certificate is to be for that address', async () => {
  const proxy = await connectProxy();
  const HTTPS_PROXY = `http://127.0.0.1:${proxy.port}`;
  for (const host of [ADDRESS, `[${ADDRESS_6}]`])
    expect([host, await tasks(hub, { HTTPS_PROXY, CAIRN_SERVER: `https://${host}:${hub.port}` })]).toEqual([
      host,
      expect.objectContaining({ code: 0, stderr: '' }),
    ]);
  expect([...new Set(proxy.asked)]).toEqual([`CONNECT ${ADDRESS}:${hub.port}`, `CONNECT [${ADDRESS_6}]:${hub.port}`]);
  const other = await tasks(hub, { HTTPS_PROXY, CAIRN_SERVER: `https://192.0.2.2:${hub.port}` });
  expect([other.code, other.stderr]).toEqual([4, expect.stringContaining('is for other names')]);
});

test('[CLI-9] a proxy that is reached by TLS shows a certificate of its own name, not one of the hub', async () => {
  const own = selfSigned({ altNames: 'DNS:localhost' });
  const proxy = await connectProxy({ certificate: own });
  const both = join(temporaryFolder(), 'both.pem');
  writeFileSync(both, readFileSync(own.cert, 'utf8') + readFileSync(certificate.cert, 'utf8'));
  const address = `https://localhost:${proxy.port}`;
  for (const [to, name] of [
    [hub, 'HTTPS_PROXY'],
    [plain, 'http_proxy'],
  ] as const)
    expect([name, await tasks(to, { [name]: address, NODE_EXTRA_CA_CERTS: both })]).toEqual([
      name,
      expect.objectContaining({ code: 0, stderr: '' }),
    ]);
  expect(proxy.asked).toContain(`CONNECT ${HOST}:${hub.port}`);
});

test('[CLI-9] a password with a bare percent sign is sent as it is', async () => {
  const proxy = await connectProxy();
  const { code, stderr } = await tasks(hub, { HTTPS_PROXY: `http://job:100%@127.0.0.1:${proxy.port}` });
  expect([code, stderr]).toEqual([0, '']);
  expect(proxy.asked[0]).toContain(Buffer.from('job:100%').toString('base64'));
});

test('[CLI-9] a proxy that never answers is named, and the connection to it ends with the request', async () => {
  const proxy = await connectProxy({ isMute: true });
  vi.stubEnv('HTTPS_PROXY', `http://job:secret-word@127.0.0.1:${proxy.port}`);
  const said = await sendRequest(`https://${HOST}:1`, '/health', { seconds: 0.5 }).catch(String);
  expect(said).toContain(`through the proxy http://127.0.0.1:${proxy.port} of HTTPS_PROXY`);
  expect(said).not.toContain('secret-word');
  await proxy.closed;
});

test('[CLI-9] this machine, and a host that NO_PROXY names, are reached without the proxy', async () => {
  const proxy = await connectProxy();
  const HTTPS_PROXY = `http://127.0.0.1:${proxy.port}`;
  expect(await tasks(hub, { HTTPS_PROXY, CAIRN_SERVER: hub.url })).toMatchObject({ code: 0 });
  for (const NO_PROXY of ['*', 'example.org, .cairn.test', HOST, `cairn.test:${hub.port}`]) {
    const { code, stderr } = await tasks(hub, { HTTPS_PROXY, NO_PROXY });
    expect([NO_PROXY, code, stderr]).toEqual([NO_PROXY, 4, expect.stringContaining('is not known')]);
  }
  expect(proxy.asked).toEqual([]);
  expect(await tasks(hub, { HTTPS_PROXY, NO_PROXY: 'test.example, airn.test,cairn.test:1' })).toMatchObject({
    code: 0,
  });
});

test.each([
  ['wants a password', 407, /wants another name or password; set HTTPS_PROXY to http:\/\/NAME:PASSWORD@127\.0\.0\.1/],
  ['refuses the host', 403, /does not connect to hub\.cairn\.test:\d+ \(403\); .*NO_PROXY/],
  ['cannot reach the hub', 502, /does not connect to hub\.cairn\.test:\d+ \(502\)/],
])('[CLI-9] a proxy that %s is said to be the cause, without its password', async (_, refuses, says) => {
  const proxy = await connectProxy({ refuses });
  const { code, stderr } = await tasks(hub, { HTTPS_PROXY: `http://job:secret-word@127.0.0.1:${proxy.port}` });
  expect([code, stderr]).toEqual([4, expect.stringMatching(says)]);
  expect(stderr).not.toContain('secret-word');
});

test('[CLI-9] a proxy that is not there, or that is no HTTP proxy, is named with its variable', async () => {
  for (const [to, name] of [
    [hub, 'HTTPS_PROXY'],
    [plain, 'http_proxy'],
  ] as const) {
    const { code, stderr } = await tasks(to, { [name]: 'http://job:secret-word@127.0.0.1:1' });
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining(`the proxy http://127.0.0.1:1 of ${name} (ECONNREFUSED)`),
    ]);
    expect(stderr).not.toContain('secret-word');
  }
  for (const [name, value] of [
    ['HTTPS_PROXY', 'socks5://127.0.0.1:1080'],
    ['ALL_PROXY', 'socks5h://job:secret-word@127.0.0.1:1080'],
  ] as const) {
    const socks = await tasks(hub, { [name]: value });
    const says = `${name} must be the address of an HTTP proxy, .* not of a SOCKS proxy, .* NO_PROXY`;
    expect([socks.code, socks.stderr]).toEqual([1, expect.stringMatching(says)]);
    expect(socks.stderr).not.toContain('secret-word');
  }
});

test('[CLI-9] a certificate that nobody vouches for, or for another name, is told from one that has expired', async () => {
  const direct = { CAIRN_SERVER: hub.url };
  expect(await tasks(hub, { ...direct, NODE_EXTRA_CA_CERTS: '' })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('name its authority in NODE_EXTRA_CA_CERTS') as string,
  });
  expect(await tasks(hub, { CAIRN_SERVER: `https://localhost:${hub.port}` })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('is for other names; check --server') as string,
  });
});

test.runIf(canSetClocks)(
  '[CLI-9] an expired certificate is said to be expired, and one of tomorrow not valid yet',
  async () => {
    for (const [days, says] of [
      [10, 'has expired, if the clock of this machine is right'],
      [-10, 'is not valid yet, if the clock of this machine is right'],
    ] as const) {
      const clock = new ProcessClock();
      clock.set(days * 86_400);
      const { code, stderr } = await tasks(hub, { ...clock.environment, CAIRN_SERVER: hub.url });
      expect([code, stderr]).toEqual([4, expect.stringContaining(says)]);
    }
  },
);

test('[CLI-9] https_proxy counts before HTTPS_PROXY', async () => {
  const proxy = await connectProxy();
  const both = { https_proxy: `http://127.0.0.1:${proxy.port}`, HTTPS_PROXY: 'http://127.0.0.1:1' };
  expect(await tasks(hub, both)).toMatchObject({ code: 0 });
});
