/** Files above 10 MiB in two folders: only changed chunks travel, both ways, and nothing is lost on the way. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { type Relay, startRelay } from '../../support/relay.ts';
import { canUnshare } from '../../support/small-disk.ts';
import { type SyncedFolder, syncedPair, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 2 ** 20;

const hub = useHub({ env: { CAIRN_RATE_LIMIT: '0' } });
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const bytesIn = ({ at }: SyncedFolder, path: string): Buffer => readFileSync(at(path));

/** Changes one byte of a file. */
function edit({ at }: SyncedFolder, path: string, offset: number): Buffer {
  const bytes = readFileSync(at(path));
  bytes[offset] = (bytes[offset] ?? 0) ^ 0xff;
  writeFileSync(at(path), bytes);
  return bytes;
}

/** Chunks that went through a relay since the last call, by method. */
function counting(relay: Relay) {
  let from = 0;
  return () => {
    const seen = relay.requests.slice(from);
    from = relay.requests.length;
    const of = (method: string) => seen.filter((one) => one.method === method && /\/chunks\//.test(one.path)).length;
    return { put: of('PUT'), get: of('GET') };
  };
}

test('[SYN-39] a large file arrives; of an edit only the changed chunks travel, of a rename none; it is printed and restored', async () => {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(relay, key, { 'first.md': 'first\n' });
  const travelled = counting(relay);
  const bytes = randomBytes(16 * MiB);
  a.write('film.mp4', bytes);
  expect(await a.sync()).toMatchObject({ code: 0, stdout: expect.stringMatching(/pushed +film\.mp4/) });
  const sent = travelled().put;
  expect(sent).toBeGreaterThan(5);
  expect(await b.sync()).toMatchObject({ code: 0, stdout: expect.stringMatching(/pulled +film\.mp4/) });
  expect(travelled()).toEqual({ put: 0, get: sent });
  expect(bytesIn(b, 'film.mp4').equals(bytes)).toBe(true);

  const edited = edit(b, 'film.mp4', 9 * MiB);
  expect(await b.sync()).toMatchObject({ code: 0 });
  const { put } = travelled();
  expect([1, 2, 3]).toContain(put);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(travelled()).toEqual({ put: 0, get: put });
  expect(bytesIn(a, 'film.mp4').equals(edited)).toBe(true);

  a.rename('film.mp4', 'films/last.mp4');
  expect(await a.sync()).toMatchObject({ code: 0, stdout: expect.stringMatching(/renamed +films\/last\.mp4/) });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(travelled()).toEqual({ put: 0, get: 0 });
  expect(bytesIn(b, 'films/last.mp4').equals(edited)).toBe(true);
  expect(b.has('film.mp4')).toBe(false);

  expect(await a.sync('restore', 'films/last.mp4', '--seq', '2')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(bytesIn(a, 'films/last.mp4').equals(bytes)).toBe(true);
  for (const one of [a, b]) {
    expect(await one.sync()).toMatchObject({ code: 0 });
    expect(await one.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  }
  await relay.close();
}, 240_000);

test('[SYN-39] a large file edited on both sides is a conflict: each side stays whole until a person chooses, and both are versions', async () => {
  const [a, b] = await syncedPair(hub, key, { 'dump.sql': randomBytes(12 * MiB) });
  const ofA = edit(a, 'dump.sql', 1 * MiB);
  expect(await a.sync()).toMatchObject({ code: 0 });
  const ofB = edit(b, 'dump.sql', 11 * MiB);
  expect(await b.sync()).toMatchObject({ code: 3, stderr: expect.stringContaining('dump.sql has a conflict') });
  expect(bytesIn(b, 'dump.sql').equals(ofB)).toBe(true);
  expect(await b.sync('resolve', 'dump.sql', '--keep', 'theirs')).toMatchObject({ code: 0 });
  expect(bytesIn(b, 'dump.sql').equals(ofA)).toBe(true);
  const { stdout } = await b.sync('history', 'dump.sql');
  const side = /--seq (\S+)/.exec(stdout.split('\n').find((line) => line.startsWith('not chosen')) ?? '')?.[1] ?? '';
  expect(await b.sync('restore', 'dump.sql', '--seq', side)).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(bytesIn(a, 'dump.sql').equals(ofB)).toBe(true);
}, 240_000);

test('[SYN-39] under a watch, small files go on while a side of a conflict is sent; then the conflict is told', async () => {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(hub, key, { 'dump.sql': randomBytes(12 * MiB) }, { through: relay });
  const ofB = edit(b, 'dump.sql', 11 * MiB);
  utimesSync(b.at('dump.sql'), 1e9, 1e9);
  edit(a, 'dump.sql', 1 * MiB);
  expect(await a.sync()).toMatchObject({ code: 0 });
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  relay.rules = { holds: ({ method }) => (method === 'PUT' ? released : Promise.resolve()) };
  const watcher = b.watch();
  await until(() => relay.requests.some(({ method }) => method === 'PUT'), watcher.output);
  b.write('small.md', 'small\n');
  await until(() => /pushed +small\.md/.test(watcher.output()), watcher.output);
  release();
  await until(() => /dump\.sql/.test(watcher.output()), watcher.output);
  await until(async () => (await b.sync('status')).stdout.includes('cairn sync resolve'), watcher.output);
  expect(await watcher.stop()).toBe(3);
  expect(bytesIn(b, 'dump.sql').equals(ofB)).toBe(true);
  expect(await b.sync('resolve', 'dump.sql', '--keep', 'mine')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(bytesIn(a, 'dump.sql').equals(ofB)).toBe(true);
  await relay.close();
}, 240_000);

test('[SYN-39] kill -9 in an upload and in a download: what had arrived does not travel again', async () => {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(relay, key, { 'first.md': 'first\n' });
  const bytes = randomBytes(24 * MiB);
  const chunkRequests = (method: string) =>
    relay.requests.filter((one) => one.method === method && /\/chunks\//.test(one.path)).length;
  a.write('large.bin', bytes);
  const [sender, cut] = [a.watch(), { puts: 8, gets: 8 }];
  relay.rules = {
    holds: ({ method }) => (method === 'PUT' && chunkRequests('PUT') > cut.puts ? sleep(60_000) : Promise.resolve()),
  };
  await until(() => chunkRequests('PUT') > cut.puts, sender.output);
  await sender.kill();
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(b.has('large.bin')).toBe(false);
  relay.rules = {};
  const before = chunkRequests('PUT');
  expect(await a.sync()).toMatchObject({ code: 0 });
  const again = chunkRequests('PUT') - before;
  const receiver = b.watch();
  relay.rules = {
    holds: ({ method, path }) =>
      method === 'GET' && /\/chunks\//.test(path) && chunkRequests('GET') > cut.gets
        ? sleep(60_000)
        : Promise.resolve(),
  };
  await until(() => chunkRequests('GET') > cut.gets, receiver.output);
  await receiver.kill();
  expect(b.has('large.bin')).toBe(false);
  relay.rules = {};
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(bytesIn(b, 'large.bin').equals(bytes)).toBe(true);
  const total = chunkRequests('GET') - 1;
  // At least the parts that had arrived before the end are not sent again.
  expect(again).toBeLessThanOrEqual(total - (cut.puts - 4));
  expect(readdirSync(`${b.folder}/.cairn/incoming`)).toEqual([]);
  await relay.close();
}, 240_000);

test('[SYN-39] a hub that is too old for large files says so once, keeps what it has, and takes them after its update', async () => {
  const relay = await startRelay(hub);
  const [a] = await syncedPair(relay, key, { 'first.md': 'first\n' });
  const refusal = { code: -32602, message: 'chunks is not an argument', data: { field: 'chunks' } };
  const older = JSON.stringify({ jsonrpc: '2.0', id: 1, error: refusal });
  relay.rules = {
    answers: ({ path, body }) => {
      if (/\/chunks/.test(path)) return { status: 404, body: '{"error":"there is no such page"}' };
      return body.includes('"chunks":true') ? { status: 200, body: older } : undefined;
    },
  };
  a.write('large.bin', randomBytes(11 * MiB));
  a.write('small.md', 'small\n');
  const first = await a.sync();
  expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('large.bin') });
  expect(first.stderr).toContain('this hub takes files of at most 10.0 MiB. Update the hub, then sync again.');
  expect(first.stdout).toMatch(/pushed +small\.md/);
  const watcher = a.watch();
  await until(() => /large\.bin/.test(watcher.output()), watcher.output);
  // Updated: it goes away and comes back.
  await relay.close();
  relay.rules = {};
  await relay.open();
  await until(() => /pushed +large\.bin/.test(watcher.output()), watcher.output);
  expect(await watcher.stop()).toBe(0);
  await relay.close();
}, 240_000);

test('[SYN-39] a watch holds a large file in no memory, sends each state in which it stands still, and small files between', async () => {
  const [a, b] = await syncedPair(hub, key, { 'first.md': 'first\n' });
  writeFileSync(a.at('sparse.img'), '');
  truncateSync(a.at('sparse.img'), 300 * MiB);
  const watcher = a.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  a.write('small.md', 'small\n');
  await until(() => /pushed +small\.md/.test(watcher.output()), watcher.output);
  await until(() => /pushed +sparse\.img/.test(watcher.output()), watcher.output);
  const status = readFileSync(`/proc/${watcher.pid}/status`, 'utf8');
  expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024).toBeLessThan(280);
  await watcher.stop();
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(statSync(b.at('sparse.img')).size).toBe(300 * MiB);
}, 240_000);

test.runIf(canUnshare)(
  '[SYN-24, SYN-39] a disk without room for a large file keeps nothing of it, takes small ones, says so once, and the file once there is room',
  async () => {
    const relay = await startRelay(hub);
    const [a, b] = await syncedPair(hub, key, { 'first.md': 'first\n' }, { isShared: false, through: relay });
    const bytes = randomBytes(24 * MiB);
    const own = b.at('.cairn');
    a.write('large.bin', bytes);
    expect(await a.sync()).toMatchObject({ code: 0 });
    const room = `mount -t tmpfs -o size=64m tmpfs '${b.folder}' && mkdir -m 700 '${own}' && head -c 40m /dev/zero >'${own}/filler' && exec "$0" "$@"`;
    const watcher = b.watch({}, { wrapper: ['unshare', '-rm', 'sh', '-c', room] });
    const inside = (command: string) =>
      execFileSync('nsenter', ['-t', String(watcher.pid), '-m', '-U', '--preserve-credentials', 'sh', '-c', command], {
        cwd: '/',
      }).toString();
    const chunks = () =>
      relay.requests.filter(({ method, path }) => method === 'GET' && /\/chunks\//.test(path)).length;
    await until(() => /large\.bin.*disk is full \(ENOSPC\); it needs 24\.0 MiB/.test(watcher.output()), watcher.output);
    a.write('small.md', 'small\n');
    expect(await a.sync()).toMatchObject({ code: 0 });
    await until(() => /pulled +small\.md/.test(watcher.output()), watcher.output);
    await sleep(3000);
    expect(chunks()).toBe(0);
    expect(watcher.output().match(/disk is full/g)).toHaveLength(1);
    expect(inside(`ls '${own}/incoming'`)).toBe('');
    const status = await b.syncUnder(
      ['nsenter', '-t', String(watcher.pid), '-m', '-U', '--preserve-credentials'],
      'status',
    );
    expect(status).toMatchObject({ code: 1, stdout: expect.stringMatching(/disk is full/) });
    inside(`rm '${own}/filler'`);
    await until(() => /pulled +large\.bin/.test(watcher.output()), watcher.output);
    expect(inside(`sha256sum <'${b.folder}/large.bin'`)).toContain(createHash('sha256').update(bytes).digest('hex'));
    expect(await watcher.stop()).toBe(0);
    await relay.close();
  },
  240_000,
);

test('[SYN-24, SYN-39] while the chunks of a large file fail, both ways, small files go on, it is told once, and asked for less and less', async () => {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(hub, key, { 'first.md': 'first\n' }, { through: relay });
  const fails = {
    answers: ({ path }: { path: string }) => (/\/chunks\//.test(path) ? { status: 502, body: '' } : undefined),
  };
  a.write('theirs.bin', randomBytes(12 * MiB));
  expect(await a.sync()).toMatchObject({ code: 0 });
  b.write('ours.bin', randomBytes(12 * MiB));
  utimesSync(b.at('ours.bin'), 1e9, 1e9);
  relay.rules = fails;
  const watcher = b.watch();
  const told = /a large file is not transferred now/g;
  await until(() => told.test(watcher.output()), watcher.output);
  b.write('small.md', 'small\n');
  await until(() => /pushed +small\.md/.test(watcher.output()), watcher.output);
  const from = relay.requests.length;
  await sleep(6000);
  const asked = relay.requests.slice(from).filter(({ path }) => /\/chunks\//.test(path)).length;
  // Four at once, each way, after pauses of 1, 2 and 4 s.
  expect(asked).toBeLessThanOrEqual(3 * 8);
  expect(watcher.output().match(told)).toHaveLength(1);
  expect(await b.sync('status')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('a large file is not transferred'),
  });
  const kept = bytesIn(b, 'ours.bin');
  b.remove('ours.bin');
  a.remove('theirs.bin');
  expect(await a.sync()).toMatchObject({ code: 0 });
  // Nothing is left that fails.
  await until(async () => (await b.sync('status')).code === 0, watcher.output);
  relay.rules = {};
  b.write('ours.bin', kept);
  await until(() => /pushed +ours\.bin/.test(watcher.output()), watcher.output);
  expect(await watcher.stop()).toBe(0);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(bytesIn(a, 'ours.bin').equals(bytesIn(b, 'ours.bin'))).toBe(true);
  await relay.close();
}, 240_000);
