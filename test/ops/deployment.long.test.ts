/** The deployment examples of the manual, as they are written: read by the programs that they are for, and tried. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { unitText } from '../../src/ops/service/unit.ts';
import { selfSigned } from '../support/certificate.ts';
import { request } from '../support/gateway.ts';
import { AGENT, call } from '../support/http.ts';
import { CAIRN, type Hub, runCairn, startHub } from '../support/hub.ts';
import {
  type Account,
  type Credential,
  download,
  mirrorAccount,
  randomCommit,
  upload,
  uploadHeaders,
} from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { succeeds as has } from '../support/succeeds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MANUAL = readFileSync(join(ROOT, 'src/manual/operating.md'), 'utf8');
const MiB = 1024 * 1024;

let hub: Hub | undefined;
let proxy: ChildProcess | undefined;
afterEach(async () => {
  proxy?.kill('SIGTERM');
  await hub?.kill();
  hub = undefined;
  proxy = undefined;
});

function blockOf(language: string): string {
  const found = blocksOf(language);
  expect(found.length).toBe(1);
  return found[0] ?? '';
}

function blocksOf(language: string): string[] {
  const found = MANUAL.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'));
  return [...found].map(([, text]) => text ?? '');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** The status that answers the head of an upload, of which no body is ever sent. */
function statusOfHead(front: Hub, who: Credential, bytesDeclared: number): Promise<number | undefined> {
  const open = front.url.startsWith('https') ? httpsRequest : httpRequest;
  const headers = {
    ...uploadHeaders(who, randomCommit(), randomBytes(10)),
    'User-Agent': AGENT,
    'Content-Length': String(bytesDeclared),
  };
  return new Promise((resolve, reject) => {
    const path = `${front.url}/api/cert_mirror`;
    const outgoing = open(path, { method: 'POST', headers, agent: false, rejectUnauthorized: false }, (incoming) => {
      resolve(incoming.statusCode);
      incoming.resume();
      outgoing.destroy();
    });
    // After the answer this rejects nothing any more.
    outgoing.on('error', reject);
    outgoing.flushHeaders();
  });
}

/** What every proxy in front must let through unchanged. */
async function expectWorksBehind(url: string, on: Hub, who: Account & Credential): Promise<void> {
  const front = { ...on, url };
  await until('the proxy answers', async () => {
    const answer = await call(front, '/health').catch(() => undefined);
    return answer?.status === 200 ? answer : undefined;
  });
  for (const size of [1, 70_000, limits.uploadBytesMax]) {
    const [commit, bytes] = [randomCommit(), randomBytes(size)];
    expect((await upload(front, who, commit, bytes)).status).toBe(200);
    const back = await download(front, who, commit);
    expect(back.headers['content-length']).toBe(String(size));
    expect(back.bytes.equals(bytes)).toBe(true);
  }
  // Only the head is sent: the answer must come before any byte of the body.
  expect(await statusOfHead(front, who, 60 * MiB)).toBe(413);
  // The address is the client's, and not one that it writes itself.
  const id = `behind-${randomBytes(4).toString('hex')}`;
  await call(front, '/health', { headers: { 'X-Forwarded-For': '203.0.113.7', 'X-Request-Id': id } });
  expect(await on.waitForLog((line) => line['id'] === id)).toMatchObject({ address: '127.0.0.1' });
  // One batch, its lines as they come.
  const lines = await call(front, '/api/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' },
    body: JSON.stringify([request(1, 'ping'), request(2, 'tools/list')]),
  });
  expect(lines.text.trim().split('\n').length).toBe(2);
  // Longer than the hub keeps a connection that nobody uses: what comes then meets an open one.
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const posts = Array.from({ length: 5 }, () =>
    call(front, '/api/mcp', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request(1, 'ping')),
    }),
  );
  expect((await Promise.all(posts)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
}

async function startBehindProxy(): Promise<{ on: Hub; who: Account & Credential; port: number }> {
  const on = await startHub({ env: { CAIRN_TRUSTED_PROXIES: '127.0.0.1' } });
  hub = on;
  return { on, who: await mirrorAccount(on), port: await freePort() };
}

test.runIf(has('systemd-analyze', '--version'))('[OPS-8] systemd takes the unit, and finds it well shut in', () => {
  const unit = join(temporaryFolder(), 'cairn.service');
  const command = [process.execPath, CAIRN];
  writeFileSync(unit, unitText({ command, user: 'cairn', dataFolder: '/var/lib/cairn' }));
  const said = execFileSync('systemd-analyze', ['verify', unit], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(said).toBe('');
  const security = execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], {
    encoding: 'utf8',
  });
  expect(security).toMatch(/Overall exposure level/);
});

test.runIf(has('systemd-analyze', '--version'))(
  '[OPS-8] systemd takes the unit with port 443 and certificates, and that of a follower',
  () => {
    const [override = '', follower = '', ...more] = blocksOf('systemd');
    expect(more).toEqual([]);
    const folder = temporaryFolder();
    const unit = join(folder, 'cairn.service');
    const command = [process.execPath, CAIRN];
    writeFileSync(unit, unitText({ command, user: 'cairn', dataFolder: '/var/lib/cairn' }));
    mkdirSync(`${unit}.d`);
    writeFileSync(join(`${unit}.d`, 'override.conf'), override);
    const said = execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: 'pipe' });
    expect(said).toBe('');
    const following = join(folder, 'cairn-follow.service');
    writeFileSync(following, follower);
    // Of the unit that it names, the first one has the name.
    expect(execFileSync('systemd-analyze', ['verify', following], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
    const args = ['security', '--offline=true', '--threshold=30', '--no-pager', unit];
    expect(execFileSync('systemd-analyze', args, { encoding: 'utf8' })).toMatch(/Overall exposure level/);
  },
);

test.runIf(has('nginx', '-v'))('[OPS-8, NET-10] nginx takes the example, and the hub works behind it', async () => {
  const { on, who, port } = await startBehindProxy();
  const folder = temporaryFolder();
  const { cert, key } = selfSigned();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const site = blockOf('nginx')
    .replace('127.0.0.1:8787', `127.0.0.1:${on.port}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/letsencrypt/live/hub.example.org/fullchain.pem', cert)
    .replace('/etc/letsencrypt/live/hub.example.org/privkey.pem', key);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; ${user} pid ${folder}/pid; events {} http { access_log off; ${temporary.join(' ')}\n${site}\n}`,
  );
  const args = ['-p', folder, '-e', join(folder, 'error.log'), '-c', file];
  execFileSync('nginx', ['-t', ...args], { stdio: 'pipe' });
  proxy = spawn('nginx', args, { stdio: 'ignore' });
  await expectWorksBehind(`https://127.0.0.1:${port}`, on, who);
});

test.runIf(has('haproxy', '-v'))('[OPS-8, NET-10] HAProxy takes the example, and the hub works behind it', async () => {
  const { on, who, port } = await startBehindProxy();
  const folder = temporaryFolder();
  const { cert, key } = selfSigned();
  const both = join(folder, 'both.pem');
  writeFileSync(both, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  const file = join(folder, 'haproxy.cfg');
  const text = blockOf('haproxy')
    .replace('127.0.0.1:8787', `127.0.0.1:${on.port}`)
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('/etc/haproxy/hub.example.org.pem', both);
  writeFileSync(file, text);
  execFileSync('haproxy', ['-c', '-f', file], { stdio: 'pipe' });
  proxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  await expectWorksBehind(`https://127.0.0.1:${port}`, on, who);
});

test.runIf(has('caddy', 'version'))(
  '[OPS-8, NET-10] Caddy takes the example, and the hub works behind it',
  async () => {
    const { on, who, port } = await startBehindProxy();
    const folder = temporaryFolder();
    const file = join(folder, 'Caddyfile');
    const site = blockOf('caddyfile')
      .replace('hub.example.org', `http://127.0.0.1:${port}`)
      .replace('127.0.0.1:8787', `127.0.0.1:${on.port}`);
    writeFileSync(file, `{\n  admin off\n  auto_https off\n}\n${site}`);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    execFileSync('caddy', ['validate', '--config', file, '--adapter', 'caddyfile'], { stdio: 'pipe', env });
    proxy = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { stdio: 'ignore', env });
    await expectWorksBehind(`http://127.0.0.1:${port}`, on, who);
  },
);

test('[OPS-8] the health check of the container works with TLS and on any port, and fails without a hub', async () => {
  const recipe = readFileSync(join(ROOT, 'src/manual/deploy/container/Containerfile'), 'utf8');
  const [, check = '[]'] = /^HEALTHCHECK .*CMD (.+)$/m.exec(recipe) ?? [];
  const [command, ...args] = JSON.parse(check) as string[];
  expect(command).toBe('cairn');
  const { cert, key } = selfSigned();
  hub = await startHub({ env: { CAIRN_TLS_CERT: cert, CAIRN_TLS_KEY: key } });
  const { dataFolder } = hub;
  expect((await runCairn(args, { CAIRN_DATA: dataFolder })).code).toBe(0);
  expect(await hub.stop()).toBe(0);
  expect((await runCairn(args, { CAIRN_DATA: dataFolder })).code).not.toBe(0);
});
