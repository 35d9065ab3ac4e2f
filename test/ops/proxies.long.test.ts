/** Requests that two parties could read differently, sent through the proxies of Debian: the hub never handles what they did not send. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { head, rawClient } from '../support/raw.ts';
import { CASES } from '../support/smuggling.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account;
let count = 0;
const children: ChildProcess[] = [];
const ports = new Map<string, number>();

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

function isInstalled(program: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

interface Proxy {
  readonly program: string;
  readonly config: (port: number, hubPort: number, folder: string) => string;
  readonly args: (config: string, folder: string) => string[];
}

const PROXIES: readonly Proxy[] = [
  {
    program: 'nginx',
    config: (port, hubPort, folder) =>
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off; ` +
      ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((part) => `${part}_temp_path ${folder}/${part}; `)
        .join('') +
      `server { listen 127.0.0.1:${port}; location / { proxy_http_version 1.1; proxy_set_header Connection ""; ` +
      `proxy_set_header Host $host; proxy_pass http://127.0.0.1:${hubPort}; } } }`,
    args: (config, folder) => ['-p', folder, '-c', config],
  },
  {
    program: 'haproxy',
    config: (port, hubPort) =>
      `defaults\n mode http\n timeout client 5s\n timeout server 5s\n timeout connect 5s\n` +
      `listen hub\n bind 127.0.0.1:${port}\n server hub 127.0.0.1:${hubPort}\n`,
    args: (config) => ['-db', '-f', config],
  },
  {
    program: 'caddy',
    config: (port, hubPort) =>
      `{\n admin off\n auto_https off\n}\nhttp://:${port} {\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:${hubPort}\n}\n`,
    args: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  },
  {
    program: 'apache2',
    config: (port, hubPort, folder) =>
      ['mpm_event', 'authz_core', 'proxy', 'proxy_http']
        .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`)
        .join('') +
      `ServerName localhost\nServerRoot ${folder}\nPidFile ${folder}/pid\nErrorLog ${folder}/error.log\nMutex sem\n` +
      `Listen 127.0.0.1:${port}\nProxyPass / http://127.0.0.1:${hubPort}/\nProxyPreserveHost On\n`,
    args: (config, folder) => ['-d', folder, '-f', config, '-DFOREGROUND'],
  },
];
const INSTALLED = PROXIES.filter(({ program }) => isInstalled(program));

beforeAll(async () => {
  owner = await account(hub);
  for (const { program, config, args } of INSTALLED) {
    const [port, folder] = [await freePort(), temporaryFolder()];
    mkdirSync(join(folder, 'logs'));
    const file = join(folder, 'config');
    writeFileSync(file, config(port, hub.port, folder));
    const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin`, HOME: folder };
    children.push(spawn(program, args(file, folder), { env, stdio: 'ignore' }));
    await until(`${program} answers`, async () => {
      const answer = await call({ url: `http://127.0.0.1:${port}` }, '/health').catch(() => undefined);
      return answer?.status === 200 ? true : undefined;
    });
    ports.set(program, port);
  }
}, 120_000);
afterAll(() => {
  for (const child of children) child.kill('SIGTERM');
});

const TITLE = '[NET-3] behind %s: %s';
const casesOf = (proxies: readonly Proxy[]) =>
  proxies.flatMap(({ program }) => Object.keys(CASES).map((name) => [program, name] as const));

test.concurrent.each(casesOf(INSTALLED))(TITLE, behind);
test.skip.each(casesOf(PROXIES.filter((proxy) => !INSTALLED.includes(proxy))))(TITLE, behind);

async function behind(program: string, name: string): Promise<void> {
  count += 1;
  const at = count;
  const [outer, id] = [`outer-${at}`, `inner-${at}`];
  const inner = head('GET /health HTTP/1.1', [`X-Request-Id: ${id}`]);
  const own = [`X-Request-Id: ${outer}`, `Authorization: McpKey ${owner.mcp_key}`, 'Content-Type: application/json'];
  const client = await rawClient(ports.get(program) ?? 0);
  client.send(Buffer.from(CASES[name]?.(inner, own) ?? '', 'latin1'));
  await Promise.race([client.received(1).catch(() => undefined), sleep(3000)]);
  await Promise.race([client.closed, sleep(700)]);
  // Whoever comes next on a connection that the proxy keeps to the hub gets an answer of its own.
  const next = `next-${at}`;
  const after = await call({ url: `http://127.0.0.1:${ports.get(program) ?? 0}` }, '/ready', {
    headers: { 'X-Request-Id': next },
  });
  expect([after.status, after.headers['x-request-id'], after.json()]).toEqual([
    200,
    next,
    { status: 'ready', checks: [] },
  ]);
  await hub.waitForLog((line) => line['id'] === next);
  // The proxy took the inner request for one of its own exactly where it gives an answer to it, sooner or later.
  const outcome = () => ({
    handled: hub.logs.filter((line) => line['id'] === id).length,
    answered: Math.min(client.text().split(id).length - 1, 1),
  });
  for (let waits = 0; outcome().handled !== outcome().answered && waits < 100; waits += 1) await sleep(100);
  client.vanish();
  const { handled, answered } = outcome();
  expect([program, name, handled]).toEqual([program, name, answered]);
}
