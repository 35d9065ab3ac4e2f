/** Starting and stopping: settings, the data folder and its one owner, the master key, signals. */
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import {
  type Account,
  type Credential,
  download,
  mirrorAccount,
  randomCommit,
  upload,
  uploadHeaders,
} from '../support/mirror.ts';
import { head, type RawClient, rawClient } from '../support/raw.ts';
import { refusedStart } from '../support/refused-start.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The one sentence that a refused start writes. */
async function refusal(env: Record<string, string>): Promise<string> {
  const { code, stderr, stdout } = await refusedStart(env);
  expect(code).toBe(1);
  expect(stdout).not.toContain('listening');
  const lines = stderr.trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^cairn: .+\.$/);
  return lines[0] ?? '';
}

// Every wrong value is in test/config.unit.test.ts, and of proxies in test/http/request/rules.unit.test.ts.
test.each([
  ['CAIRN_PORT', ['65536']],
  // The last one is well formed and belongs to another machine.
  ['CAIRN_HOST', ['', 'not a host', '203.0.113.9']],
  ['CAIRN_DATA', ['']],
  ['CAIRN_LOG_LEVEL', ['loud']],
  ['CAIRN_TRUSTED_PROXIES', ['10.0.0.0/33']],
  ['CAIRN_IDP_ISSUER', ['http://idp.example.org']],
  ['CAIRN_BODY_SECONDS', ['1.5']],
])('[OPS-1] a wrong %s stops the start with a sentence that names it', async (name, values) => {
  for (const value of values)
    expect([value, await refusal({ [name]: value })]).toEqual([value, expect.stringContaining(name)]);
});

test.each(['', 'short', 'z'.repeat(64), 'ab'.repeat(31), 'ab'.repeat(33), ` ${'ab'.repeat(32)}`])(
  '[OPS-1] a wrong CAIRN_MASTER_KEY (%j) stops the start and is never printed',
  async (value) => {
    const { code, stderr, stdout } = await refusedStart({ CAIRN_MASTER_KEY: value });
    expect(code).toBe(1);
    expect(stderr).toContain('CAIRN_MASTER_KEY');
    if (value !== '') expect(stderr + stdout).not.toContain(value.trim());
  },
);

test.each([
  ['CAIRN_PROT', 'CAIRN_PORT'],
  ['CAIRN_MASTERKEY', 'CAIRN_MASTER_KEY'],
  ['CAIRN_BODY_SECOND', 'CAIRN_BODY_SECONDS'],
])('[OPS-1] the unknown setting %s stops the start and %s is suggested', async (name, meant) => {
  const sentence = await refusal({ [name]: 'some-value' });
  expect(sentence).toContain(name);
  expect(sentence).toContain(`did you mean ${meant}`);
  expect(sentence).not.toContain('some-value');
});

test('[OPS-1, OAUTH-3] an identity provider takes both of its settings', async () => {
  expect(await refusal({ CAIRN_IDP_ISSUER: 'https://idp.example.org' })).toContain('CAIRN_IDP_AUDIENCE must be set');
  expect(await refusal({ CAIRN_IDP_AUDIENCE: 'hub' })).toContain('CAIRN_IDP_ISSUER must be set');
});

test('[OPS-1] an unknown setting that resembles none is named without a suggestion', async () => {
  const sentence = await refusal({ CAIRN_QWERTYUIOPASDFGH: '1' });
  expect(sentence).toContain('CAIRN_QWERTYUIOPASDFGH');
  expect(sentence).not.toContain('did you mean');
});

test('[OPS-1] a port in use stops the start and is not shared', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  expect(await refusal({ CAIRN_PORT: port })).toContain('CAIRN_PORT');
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const hub = await startHub();
  expect(await refusal({ CAIRN_PORT: String(hub.port) })).toContain('CAIRN_PORT');
  expect((await call(hub, '/health')).status).toBe(200);
  expect(await hub.stop()).toBe(0);
});

test('[OPS-1] a data folder that cannot be made or written stops the start', async () => {
  const file = join(temporaryFolder(), 'a-file');
  writeFileSync(file, 'in the way');
  expect(await refusal({ CAIRN_DATA: file })).toContain('CAIRN_DATA');
  expect(await refusal({ CAIRN_DATA: join(file, 'below') })).toContain('CAIRN_DATA');
  expect(readFileSync(file, 'utf8')).toBe('in the way');
});

test('[OPS-1] the master key is made once in the data folder, for its owner alone, and kept', async () => {
  const dataFolder = join(temporaryFolder(), 'made', 'on', 'start');
  const hub = await startHub({ dataFolder });
  const path = join(dataFolder, 'master.key');
  const made = readFileSync(path, 'utf8');
  expect(made).toMatch(/^[0-9a-f]{64}\n$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  for (const name of ['cairn.mdb', 'control.sock']) expect(statSync(join(dataFolder, name)).mode & 0o077).toBe(0);
  expect(statSync(dataFolder).mode & 0o077).toBe(0);
  const owner = await mirrorAccount(hub);
  expect(await hub.stop()).toBe(0);
  const again = await startHub({ dataFolder });
  expect(readFileSync(path, 'utf8')).toBe(made);
  expect((await upload(again, owner, randomCommit(), Buffer.from('x'))).status).toBe(200);
  expect(await again.stop()).toBe(0);
});

test('[OPS-1] data without its master key, or with another one, is not opened', async () => {
  const hub = await startHub();
  const { dataFolder } = hub;
  const owner = await mirrorAccount(hub);
  expect(await hub.stop()).toBe(0);
  const path = join(dataFolder, 'master.key');
  const right = readFileSync(path, 'utf8').trim();
  const wrong = 'ab'.repeat(32);
  const otherKey = await refusal({ CAIRN_DATA: dataFolder, CAIRN_MASTER_KEY: wrong });
  expect(otherKey).toContain('CAIRN_MASTER_KEY');
  expect(otherKey).not.toContain(wrong);
  rmSync(path);
  const missing = await refusal({ CAIRN_DATA: dataFolder });
  expect(missing).toContain('master.key');
  expect(missing).toContain('CAIRN_MASTER_KEY');
  writeFileSync(path, 'not a key\n');
  expect(await refusal({ CAIRN_DATA: dataFolder })).toContain('master.key');
  rmSync(path);
  const again = await startHub({ dataFolder, env: { CAIRN_MASTER_KEY: right.toUpperCase() } });
  expect((await upload(again, owner, randomCommit(), Buffer.from('x'))).status).toBe(200);
  expect(await again.stop()).toBe(0);
  expect(JSON.stringify(again.logs) + again.stderr()).not.toMatch(new RegExp(right, 'i'));
});

test('[OPS-2] a second process on the same data folder is refused, and the first goes on', async () => {
  const hub = await startHub();
  expect(await refusal({ CAIRN_DATA: hub.dataFolder })).toContain('CAIRN_DATA');
  expect(await refusal({ CAIRN_DATA: join(hub.dataFolder, '.') })).toContain('CAIRN_DATA');
  const owner = await mirrorAccount(hub);
  expect((await upload(hub, owner, randomCommit(), Buffer.from('x'))).status).toBe(200);
  expect(await hub.stop()).toBe(0);
});

async function race(dataFolder: string): Promise<Hub> {
  const starts = await Promise.allSettled([1, 2, 3].map(() => startHub({ dataFolder })));
  const winners = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const refusals = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []));
  await Promise.all(winners.slice(1).map((winner) => winner.kill()));
  const [winner] = winners;
  expect(winners).toHaveLength(1);
  for (const reason of refusals) expect(reason).toContain('CAIRN_DATA');
  if (winner === undefined) throw new Error('nobody won');
  return winner;
}

test('[OPS-2] of processes that start at the same moment exactly one has the folder', async () => {
  const dataFolder = temporaryFolder();
  const first = await race(dataFolder);
  const owner = await mirrorAccount(first);
  // Its socket stays behind, and again exactly one may take it over.
  await first.kill();
  const second = await race(dataFolder);
  expect((await upload(second, owner, randomCommit(), Buffer.from('x'))).status).toBe(200);
  expect(await second.stop()).toBe(0);
  const third = await race(dataFolder);
  expect(await third.stop()).toBe(0);
});

test('[OPS-2] what was acknowledged is there after kill -9, and the next start works', async () => {
  let hub = await startHub();
  const { dataFolder } = hub;
  const owner = await mirrorAccount(hub);
  const kept: { commit: string; body: Buffer }[] = [];
  for (const size of [10, 70_000, 3_000_000]) {
    const [commit, body] = [randomCommit(), Buffer.alloc(size, size % 251)];
    expect((await upload(hub, owner, commit, body)).status).toBe(200);
    kept.push({ commit, body });
    await hub.kill();
    hub = await startHub({ dataFolder });
    for (const each of kept) expect((await download(hub, owner, each.commit)).bytes.equals(each.body)).toBe(true);
  }
  const report = await hub.cli('verify', '--json');
  expect(JSON.parse(report.stdout)).toMatchObject({ ok: true, blobs: 3, staged_uploads: 0 });
  expect(await hub.stop()).toBe(0);
});

test.each(['SIGTERM', 'SIGINT'] as const)('[OPS-3] %s on an idle service ends it with exit code 0', async (signal) => {
  const hub = await startHub();
  const idle = await rawClient(hub.port);
  idle.send(head('GET /health HTTP/1.1'));
  await idle.received(1);
  const exited = new Promise<number | null>((resolve) => {
    hub.process.once('exit', (code) => resolve(code));
  });
  hub.process.kill(signal);
  expect(await exited).toBe(0);
  await idle.closed;
  await hub.waitForLog((line) => line['msg'] === 'stopped');
  expect(hub.stderr()).toBe('');
});

/** An upload whose first half has arrived. */
async function halfUpload(
  hub: Hub,
  owner: Account & Credential,
  body: Buffer,
): Promise<{ readonly client: RawClient; readonly commit: string }> {
  const commit = randomCommit();
  const client = await rawClient(hub.port);
  const headers = { ...uploadHeaders(owner, commit, body), 'Content-Length': String(body.length) };
  client.send(
    head(
      'POST /api/cert_mirror HTTP/1.1',
      Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ),
  );
  client.send(body.subarray(0, body.length / 2));
  await call(hub, '/health');
  return { client, commit };
}

test.each([1000, 4_000_000])('[OPS-3] SIGTERM finishes an upload of %i bytes that is in flight', async (size) => {
  const hub = await startHub();
  const owner = await mirrorAccount(hub);
  const body = Buffer.alloc(size, 7);
  const keepAlive = await rawClient(hub.port);
  keepAlive.send(head('GET /ready HTTP/1.1'));
  expect((await keepAlive.received(1))[0]?.status).toBe(200);
  const other = await rawClient(hub.port);
  other.send(head('GET /health HTTP/1.1'));
  await other.received(1);
  const { client, commit } = await halfUpload(hub, owner, body);
  const stopped = hub.stop();
  await hub.waitForLog((line) => line['msg'] === 'stopping');
  await expect(call(hub, '/health')).rejects.toThrow();
  other.send(head('GET /health HTTP/1.1'));
  expect((await other.received(2))[1]?.status).toBe(200);
  other.send(head('GET /api/cert_mirror HTTP/1.1', [`Authorization: McpKey ${owner.token}`]));
  expect((await other.received(3))[2]?.status).toBe(503);
  keepAlive.send(head('GET /ready HTTP/1.1'));
  const ready = (await keepAlive.received(2))[1];
  expect(ready?.status).toBe(503);
  expect(Number(ready?.headers['retry-after'])).toBeGreaterThan(0);
  client.send(body.subarray(size / 2));
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(200);
  expect(await stopped).toBe(0);
  const again = await startHub({ dataFolder: hub.dataFolder });
  expect((await download(again, owner, commit)).bytes.equals(body)).toBe(true);
  expect(await again.stop()).toBe(0);
});

test('[OPS-3] [NET-7] an upload that never ends does not keep SIGTERM waiting for ever, and leaves nothing', async () => {
  const hub = await startHub({ env: { CAIRN_DRAIN_SECONDS: '1' } });
  const owner = await mirrorAccount(hub);
  const { client } = await halfUpload(hub, owner, Buffer.alloc(6_000_000, 7));
  expect(await hub.stop()).toBe(0);
  await client.closed;
  expect(client.answers().filter((answer) => answer.status === 200)).toEqual([]);
  const again = await startHub({ dataFolder: hub.dataFolder });
  const report = await again.cli('verify', '--json');
  expect(JSON.parse(report.stdout)).toMatchObject({ ok: true, blobs: 0, staged_uploads: 0, problems: [] });
  expect(await again.stop()).toBe(0);
});

test('[OPS-1, MIR-6] a master key that other users can read is warned of at each start', async () => {
  const dataFolder = temporaryFolder();
  const isWarned = async () => {
    const hub = await startHub({ dataFolder });
    await hub.stop();
    return hub.logs.some(({ level, msg }) => level === 40 && String(msg).includes('master.key'));
  };
  expect(await isWarned()).toBe(false);
  chmodSync(join(dataFolder, 'master.key'), 0o640);
  expect(await isWarned()).toBe(true);
});
