/** TLS by two settings, and whose address a request counts for behind a proxy. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Certificate, selfSigned } from '../../support/certificate.ts';
import { call } from '../../support/http.ts';
import { type Hub, type LogLine, startHub } from '../../support/hub.ts';
import { download, mirrorAccount, randomCommit, upload } from '../../support/mirror.ts';
import { head, rawClient } from '../../support/raw.ts';
import { refusedStart } from '../../support/refused-start.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const NETS = '127.0.0.0/8, 10.0.0.0/8, 192.0.2.7, 2001:db8:ffff::/48';

let certificate: Certificate;
let secure: Hub;
/** Its certificate has an RSA key, with which weak clients can do the most. */
let ofRsa: Hub;
let behindProxy: Hub;
let direct: Hub;

beforeAll(async () => {
  certificate = selfSigned();
  const rsa = selfSigned({ algorithm: 'rsa:2048' });
  [secure, ofRsa, behindProxy, direct] = await Promise.all([
    startHub({ env: { CAIRN_TLS_CERT: certificate.cert, CAIRN_TLS_KEY: certificate.key } }),
    startHub({ env: { CAIRN_TLS_CERT: rsa.cert, CAIRN_TLS_KEY: rsa.key } }),
    startHub({ env: { CAIRN_TRUSTED_PROXIES: NETS } }),
    startHub({ env: { CAIRN_TRUSTED_PROXIES: '192.0.2.7,10.0.0.0/8' } }),
  ]);
});

afterAll(async () => {
  await Promise.all([secure.stop(), ofRsa.stop(), behindProxy.stop(), direct.stop()]);
});

test('[NET-10] with both TLS settings the whole service speaks HTTPS', async () => {
  expect(secure.url).toMatch(/^https:/);
  expect((await call(secure, '/health')).status).toBe(200);
  const owner = await mirrorAccount(secure);
  for (const size of [10, 3_000_000]) {
    const commit = randomCommit();
    const body = randomBytes(size);
    expect((await upload(secure, owner, commit, body)).status).toBe(200);
    expect((await download(secure, owner, commit)).bytes.equals(body)).toBe(true);
  }
});

test('[NET-10] under TLS every answer keeps browsers on TLS and apart from other pages; without it none does', async () => {
  for (const path of ['/health', '/signin', '/nowhere', '/api/tasks']) {
    const { headers } = await call(secure, path);
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    expect((await call(direct, path)).headers).not.toHaveProperty('strict-transport-security');
  }
});

test('[NET-10] the certificate shown is the one that was set', async () => {
  const { name, socket } = await tlsConnection(secure);
  expect(name).toBe('cairn.test');
  expect(['TLSv1.2', 'TLSv1.3']).toContain(socket.getProtocol());
  socket.destroy();
});

/** A TLS connection, and the common name of the certificate that it was given. */
async function tlsConnection(hub: Hub): Promise<{ readonly name: string; readonly socket: TLSSocket }> {
  const socket = connect({ port: hub.port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return { name: String(socket.getPeerCertificate().subject.CN), socket };
}

const renewal = (line: LogLine) => /certificate (is|has)/.test(String(line['msg']));

test('[NET-10] SIGHUP reads a renewed certificate for new connections, and open ones live on', async () => {
  const own = selfSigned();
  const hub = await startHub({
    env: {
      CAIRN_TLS_CERT: own.cert,
      CAIRN_TLS_KEY: own.key,
      CAIRN_METRICS_TOKEN: 'a-token-of-metrics',
    },
  });
  const expires = async () =>
    /^cairn_tls_certificate_expiry_timestamp_seconds (\d+)/m.exec(
      (await call(hub, '/metrics', { headers: { Authorization: 'Bearer a-token-of-metrics' } })).text,
    )?.[1];
  const before = await expires();
  const open = await tlsConnection(hub);
  let count = 0;
  /** Sends the signal, and waits for what the log then says of the certificate. */
  const signal = async () => {
    count += 1;
    hub.process.kill('SIGHUP');
    await expect.poll(() => hub.logs.filter(renewal).length).toBe(count);
    return String(hub.logs.findLast(renewal)?.['msg']);
  };
  expect(await signal()).toBe('SIGHUP: the TLS certificate has not changed');
  // Twice: the second one replaces a door that listens nowhere.
  for (const name of ['renewed.test', 'again.test']) {
    const next = selfSigned({ name, days: 30 });
    copyFileSync(next.cert, own.cert);
    // A certificate beside the key of the one before: half of a renewal.
    expect(await signal()).toContain('is not renewed');
    copyFileSync(next.key, own.key);
    expect(await signal()).toContain('is renewed');
    const { socket, ...seen } = await tlsConnection(hub);
    socket.destroy();
    expect(seen.name).toBe(name);
  }
  expect(Number(await expires())).toBeGreaterThan(Number(before));
  expect(open.name).toBe('cairn.test');
  open.socket.write(head('GET /health HTTP/1.1'));
  const [answer] = (await once(open.socket, 'data')) as [Buffer];
  expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
  open.socket.destroy();
  expect((await call(hub, '/health')).status).toBe(200);
  expect(await hub.stop()).toBe(0);
});

test('[NET-10] plain HTTP to the TLS port gets no answer', async () => {
  const client = await rawClient(secure.port);
  client.send(head('GET /health HTTP/1.1'));
  await client.closed;
  expect(client.answers().filter((answer) => answer.status === 200)).toEqual([]);
  expect((await call(secure, '/health')).status).toBe(200);
});

test.each([
  ['TLS 1.0', false, { minVersion: 'TLSv1', maxVersion: 'TLSv1' }],
  ['TLS 1.1', false, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }],
  ['an RSA key exchange', false, { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }],
  ['an RSA key exchange and CBC', false, { maxVersion: 'TLSv1.2', ciphers: 'AES256-SHA:AES128-SHA' }],
  ['CBC', false, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES256-SHA:ECDHE-RSA-AES128-SHA' }],
  ['TLS 1.2 with GCM', true, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }],
  ['TLS 1.2 with ChaCha20', true, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-CHACHA20-POLY1305' }],
  ['TLS 1.3', true, { minVersion: 'TLSv1.3' }],
] as const)('[NET-10] a client that offers nothing but %s is accepted: %s', async (_name, accepted, offered) => {
  const { ciphers, ...versions } = { ciphers: 'DEFAULT', ...offered };
  const weakest = { ciphers: `${ciphers}:@SECLEVEL=0`, ...versions };
  const socket = connect({ host: '127.0.0.1', port: ofRsa.port, rejectUnauthorized: false, ...weakest });
  const isConnected = await Promise.race([
    once(socket, 'secureConnect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  expect(isConnected).toBe(accepted);
  socket.destroy();
});

test('[NET-10] one TLS setting without the other stops the start', async () => {
  const onlyCert = await refusedStart({ CAIRN_TLS_CERT: certificate.cert });
  expect(onlyCert).toMatchObject({ code: 1, stderr: expect.stringContaining('CAIRN_TLS_KEY') });
  const onlyKey = await refusedStart({ CAIRN_TLS_KEY: certificate.key });
  expect(onlyKey).toMatchObject({ code: 1, stderr: expect.stringContaining('CAIRN_TLS_CERT') });
});

test.each([
  ['a certificate file that is not there', 'CAIRN_TLS_CERT', () => 'missing.pem', () => certificate.key],
  ['a key file that is not there', 'CAIRN_TLS_KEY', () => certificate.cert, () => 'missing.pem'],
  ['a certificate file that holds none', 'CAIRN_TLS_CERT', () => textFile(), () => certificate.key],
  ['a key file that holds none', 'CAIRN_TLS_KEY', () => certificate.cert, () => textFile()],
  ['a key of another certificate', 'CAIRN_TLS_', () => certificate.cert, () => selfSigned().key],
])('[NET-10] %s stops the start with a sentence that names %s', async (_name, setting, cert, key) => {
  const refused = await refusedStart({ CAIRN_TLS_CERT: cert(), CAIRN_TLS_KEY: key() });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(setting);
  expect(refused.stderr.trim().split('\n')).toHaveLength(1);
});

function textFile(): string {
  const path = join(temporaryFolder(), 'text.pem');
  writeFileSync(path, 'no PEM in here\n');
  return path;
}

/** The address that the log holds for a request with these X-Forwarded-For lines. */
async function addressSeen(hub: Hub, forwarded: readonly string[]): Promise<unknown> {
  const id = `xff-${randomBytes(6).toString('hex')}`;
  await call(hub, '/health', {
    headers: { 'X-Request-Id': id, ...(forwarded.length === 0 ? {} : { 'X-Forwarded-For': forwarded }) },
  });
  return (await hub.waitForLog((line) => line['id'] === id))['address'];
}

test.each([
  ['nothing', [], '127.0.0.1'],
  ['the client', ['203.0.113.9'], '203.0.113.9'],
  ['a spoofed entry on the left', ['198.51.100.1, 203.0.113.9'], '203.0.113.9'],
  ['a trusted-looking entry on the left', ['10.9.9.9, 203.0.113.9'], '203.0.113.9'],
  ['trusted hops on the right, by range and by address', ['203.0.113.9, 192.0.2.7,10.1.2.3'], '203.0.113.9'],
  ['an address beside the single trusted one', ['203.0.113.9, 192.0.2.8'], '192.0.2.8'],
  ['two lines', ['198.51.100.1', '203.0.113.9'], '203.0.113.9'],
  ['an IPv6 client behind an IPv6 hop', ['2001:db8::5, 2001:db8:ffff::1'], '2001:db8::5'],
  ['only trusted hops', ['10.1.2.3'], '127.0.0.1'],
  ['no address', ['unknown'], '127.0.0.1'],
  ['no address right of a spoofed one', ['203.0.113.9, <script>'], '127.0.0.1'],
  ['an empty entry', ['203.0.113.9, '], '127.0.0.1'],
])('[NET-10] behind a trusted proxy that forwards %s', async (_name, forwarded, address) => {
  expect(await addressSeen(behindProxy, forwarded)).toBe(address);
});

test('[NET-10] a peer that is not a trusted proxy is taken at its own address', async () => {
  expect(await addressSeen(direct, ['203.0.113.9'])).toBe('127.0.0.1');
  expect(await addressSeen(direct, ['203.0.113.9, 192.0.2.7'])).toBe('127.0.0.1');
  expect(await addressSeen(secure, ['203.0.113.9'])).toBe('127.0.0.1');
});

test('[NET-10] other forwarding headers count for nothing', async () => {
  const headers = {
    'X-Request-Id': 'other-headers',
    Forwarded: 'for=203.0.113.9',
    'X-Real-IP': '203.0.113.9',
    'CF-Connecting-IP': '203.0.113.9',
  };
  await call(behindProxy, '/health', { headers });
  expect(await behindProxy.waitForLog((line) => line['id'] === 'other-headers')).toMatchObject({
    address: '127.0.0.1',
  });
});
