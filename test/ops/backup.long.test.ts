/** Backup beside the running service, and the way back: what was answered before is there, and nothing else is lost. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { CAIRN, cleanEnvironment, type Hub, runCairn, startHub } from '../support/hub.ts';
import { type Account, type Credential, download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { listAll, until, verified } from '../support/mirror-state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const KIB = 1024;

let hubs: Hub[] = [];
afterEach(async () => {
  await Promise.all(hubs.map((hub) => hub.kill()));
  hubs = [];
});

async function start(dataFolder?: string): Promise<Hub> {
  const hub = await startHub(dataFolder === undefined ? {} : { dataFolder });
  hubs.push(hub);
  return hub;
}

interface Manifest {
  readonly bytes: number;
  readonly sha256: string;
  readonly epoch: string;
  readonly master_key: string;
  readonly tables: Readonly<Record<string, number>>;
}

async function backUp(hub: Pick<Hub, 'cli'>, folder: string, ...flags: string[]): Promise<Manifest> {
  const done = await hub.cli('backup', folder, '--json', ...flags);
  expect(done).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(done.stdout) as Manifest;
}

const restore = (from: string, into: string, env: Record<string, string> = {}) =>
  runCairn(['restore', from, '--json'], { CAIRN_DATA: into, ...env });

const epochOf = async (folder: string) =>
  (JSON.parse((await runCairn(['stats', '--json'], { CAIRN_DATA: folder })).stdout) as Manifest).epoch;

interface Blob {
  readonly commit: string;
  readonly bytes: Buffer;
}

/** Uploads one blob after another until told to stop; what was answered 200 goes into `kept`. */
function keepUploading(hub: Hub, who: Credential, kept: Blob[]): () => Promise<void> {
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      const blob = { commit: randomCommit(), bytes: randomBytes(randomInt(1, 300 * KIB)) };
      const answer = await upload(hub, who, blob.commit, blob.bytes);
      if (answer.status === 200) kept.push(blob);
    }
  })();
  return () => {
    isOver = true;
    return done;
  };
}

/** A backup of a hub with one blob, the hub stopped. */
async function smallBackup(...flags: string[]) {
  const hub = await start();
  const who = await mirrorAccount(hub);
  const blob = { commit: randomCommit(), bytes: randomBytes(200 * KIB) };
  expect((await upload(hub, who, blob.commit, blob.bytes)).status).toBe(200);
  const folder = join(temporaryFolder(), 'backup');
  const manifest = await backUp(hub, folder, ...flags);
  await hub.stop();
  return { hub, who, blob, folder, manifest };
}

async function expectServes(dataFolder: string, who: Account & Credential, blob: Blob): Promise<void> {
  const hub = await start(dataFolder);
  expect((await download(hub, who, blob.commit)).bytes.equals(blob.bytes)).toBe(true);
  const tools = await call(hub, '/api/mcp/tools/list_tasks', {
    method: 'POST',
    headers: { Authorization: `McpKey ${who.mcp_key}`, 'Content-Type': 'application/json' },
    body: '{}',
  });
  expect(tools.status).toBe(200);
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true });
}

test('[OPS-6] a backup taken under load holds everything that was answered before it began, and restores', async () => {
  const hub = await start();
  const who = await mirrorAccount(hub);
  const kept: Blob[] = [];
  const stops = [keepUploading(hub, who, kept), keepUploading(hub, who, kept)];
  await until('some uploads', () => (kept.length > 10 ? true : undefined));
  const before = [...kept];
  const folder = join(temporaryFolder(), 'nested', 'backup');
  const manifest = await backUp(hub, folder, '--with-key');
  const behind = kept.length;
  await until('uploads after the backup', () => (kept.length > behind + 3 ? true : undefined));
  for (const stop of stops) await stop();

  expect(manifest.tables).toMatchObject({ accounts: 1, mirror_credentials: 1 });
  expect(manifest.tables['mirror_blobs']).toBeGreaterThanOrEqual(before.length);
  expect(manifest.bytes).toBe(statSync(join(folder, 'cairn.mdb')).size);
  const into = join(temporaryFolder(), 'new');
  expect(await restore(folder, into)).toMatchObject({ code: 0, stderr: '' });
  const again = await start(into);
  const listed = new Set((await listAll(again, who)).map((blob) => blob.commit_sha));
  expect(before.filter(({ commit }) => !listed.has(commit))).toEqual([]);
  expect(await verified(again)).toMatchObject({ code: 0, ok: true, blobs: manifest.tables['mirror_blobs'] });
  for (const { commit, bytes } of before) expect((await download(again, who, commit)).bytes.equals(bytes)).toBe(true);
  // The first hub has all of it as well, and goes on.
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true, blobs: kept.length });
});

test('[OPS-6] the master key is in a backup only when it is asked for, and never readable by others', async () => {
  const { hub, who, blob, folder, manifest } = await smallBackup();
  expect(manifest.master_key).toBe('not included');
  expect(readdirSync(folder).toSorted()).toEqual(['cairn.mdb', 'manifest.json']);
  const key = readFileSync(join(hub.dataFolder, 'master.key'), 'utf8').trim();
  for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file)).includes(key)).toBe(false);

  const withKey = join(temporaryFolder(), 'with-key');
  const done = await hub.cli('backup', withKey, '--with-key');
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('The backup contains master.key') });
  for (const file of ['cairn.mdb', 'manifest.json', 'master.key']) {
    expect(statSync(join(withKey, file)).mode & 0o777).toBe(0o600);
  }
  expect(statSync(withKey).mode & 0o777).toBe(0o700);

  // Without the key nothing is restored, and nothing is left.
  const into = join(temporaryFolder(), 'new');
  expect(await restore(folder, into)).toMatchObject({ code: 1, stderr: expect.stringContaining('the master key') });
  expect(existsSync(into)).toBe(false);
  const wrong = await restore(folder, into, { CAIRN_MASTER_KEY: 'ab'.repeat(32) });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('the master key does not match') });
  expect(readdirSync(into)).toEqual([]);
  // With it, given as a setting, the key does not go into a file.
  expect(await restore(folder, into, { CAIRN_MASTER_KEY: key })).toMatchObject({ code: 0 });
  expect(readdirSync(into)).toEqual(['cairn.mdb']);
  writeFileSync(join(into, 'master.key'), key, { mode: 0o600 });
  await expectServes(into, who, blob);
});

test('[OPS-6] with CAIRN_MASTER_KEY set there is no key file to copy, and the command says so', async () => {
  const hub = await startHub({ env: { CAIRN_MASTER_KEY: 'cd'.repeat(32) } });
  hubs.push(hub);
  await mirrorAccount(hub);
  const folder = join(temporaryFolder(), 'backup');
  const refused = await hub.cli('backup', folder, '--with-key');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('keep that value yourself') });
  expect(existsSync(folder)).toBe(false);
  const done = await hub.cli('backup', folder);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('keep CAIRN_MASTER_KEY in another place') });
});

test('[OPS-6] neither backup nor restore overwrites anything', async () => {
  const { hub, who, blob, folder } = await smallBackup('--with-key');
  const before = readFileSync(join(folder, 'manifest.json'));
  const twice = await hub.cli('backup', folder);
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
  expect(readFileSync(join(folder, 'manifest.json')).equals(before)).toBe(true);
  expect(readdirSync(dirname(folder))).toEqual(['backup']);

  const full = await restore(folder, hub.dataFolder);
  expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
  await expectServes(hub.dataFolder, who, blob);
  const served = await restore(folder, hub.dataFolder);
  expect(served).toMatchObject({ code: 1, stderr: expect.stringContaining('another cairn process') });
});

test('[OPS-6] a restored hub is in a new epoch, a restarted one in its old', async () => {
  const { hub, folder, manifest } = await smallBackup('--with-key');
  expect(await epochOf(hub.dataFolder)).toBe(manifest.epoch);
  await (await start(hub.dataFolder)).stop();
  expect(await epochOf(hub.dataFolder)).toBe(manifest.epoch);
  const epochs = new Set([manifest.epoch]);
  for (const name of ['one', 'two']) {
    const into = join(temporaryFolder(), name);
    const { epoch } = JSON.parse((await restore(folder, into)).stdout) as Manifest;
    expect(await epochOf(into)).toBe(epoch);
    expect(epoch).toMatch(/^[0-9a-f]{16}$/);
    epochs.add(epoch);
  }
  expect(epochs.size).toBe(3);
});

const damages: [string, (folder: string) => void, RegExp][] = [
  ['a flipped bit', (folder) => flipByte(join(folder, 'cairn.mdb')), /does not match its manifest/],
  ['a short file', (folder) => shorten(join(folder, 'cairn.mdb')), /does not match its manifest/],
  ['no data file', (folder) => rmSync(join(folder, 'cairn.mdb')), /could not be copied/],
  ['no manifest', (folder) => rmSync(join(folder, 'manifest.json')), /has no manifest.json/],
  [
    'a broken manifest',
    (folder) => writeFileSync(join(folder, 'manifest.json'), '{"format":2}'),
    /is damaged, or of a/,
  ],
  ['other counts', (folder) => changeCounts(folder), /has 1 rows, not 7/],
  ['a table of a later version', (folder) => changeCounts(folder, 'wonders'), /by a later version of cairn/],
];

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  const at = randomInt(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << randomInt(8));
  writeFileSync(path, bytes);
}

function shorten(path: string): void {
  writeFileSync(path, readFileSync(path).subarray(0, -4096));
}

function changeCounts(folder: string, table = 'accounts'): void {
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  writeFileSync(path, JSON.stringify({ ...manifest, tables: { ...manifest.tables, [table]: 7 } }));
}

test('[OPS-6] a damaged backup is refused with the reason, and leaves the folder as it was', async () => {
  const { who, blob, folder } = await smallBackup('--with-key');
  for (const [name, damage, reason] of damages) {
    const broken = join(temporaryFolder(), 'broken');
    cpSync(folder, broken, { recursive: true });
    damage(broken);
    const into = join(temporaryFolder(), 'new');
    const refused = await restore(broken, into);
    expect({ name, ...refused }).toMatchObject({ name, code: 1, stderr: expect.stringMatching(reason) });
    expect(existsSync(into) ? readdirSync(into) : []).toEqual([]);
    // The same folder takes the whole one.
    expect(await restore(folder, into)).toMatchObject({ code: 0 });
    await expectServes(into, who, blob);
    await hubs.at(-1)?.stop();
  }
}, 180_000);

test('[OPS-10] a backup of data with a damaged blob goes on, says so in its manifest, and is restored', async () => {
  const { hub, who, blob } = await smallBackup();
  const path = join(hub.dataFolder, 'cairn.mdb');
  const file = readFileSync(path);
  const at = file.indexOf(blob.bytes.subarray(50_000, 50_100));
  expect(at).toBeGreaterThan(0);
  file[at] = (file[at] ?? 0) ^ 1;
  writeFileSync(path, file);
  const folder = join(temporaryFolder(), 'later');
  const done = await hub.cli('backup', folder, '--with-key');
  expect(done).toMatchObject({ code: 1, stderr: expect.stringMatching(/damaged: blob .*hash to/) });
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { damaged: string[] };
  expect(manifest.damaged).toEqual([expect.stringContaining('hash to')]);
  const into = join(temporaryFolder(), 'restored');
  expect(await restore(folder, into)).toMatchObject({ code: 0 });
  const back = await start(into);
  expect((await upload(back, who, blob.commit, blob.bytes)).status).toBe(200);
  expect((await download(back, who, blob.commit)).bytes.equals(blob.bytes)).toBe(true);
  expect(await verified(back)).toMatchObject({ ok: true });
});

test('[OPS-6] what a killed restore left does not stand in the way of the next', async () => {
  const { who, blob, folder } = await smallBackup('--with-key');
  const into = join(temporaryFolder(), 'new');
  mkdirSync(join(into, 'restoring'), { recursive: true });
  writeFileSync(join(into, 'restoring', 'cairn.mdb'), randomBytes(10_000));
  // A supervisor that starts the hub meanwhile must not make an empty one there.
  for (const env of [{}, { CAIRN_LOG: `file://${temporaryFolder()}`, CAIRN_MASTER_KEY: '5a'.repeat(32) }]) {
    const started = await runCairn(['serve'], { CAIRN_DATA: into, CAIRN_PORT: '0', ...env });
    expect([started.code, started.stderr]).toEqual([
      1,
      expect.stringContaining('a restore into CAIRN_DATA was interrupted; run `cairn restore` again'),
    ]);
  }
  expect(readdirSync(into)).not.toContain('cairn.mdb');
  expect(await restore(folder, into)).toMatchObject({ code: 0 });
  expect(readdirSync(into).toSorted()).toEqual(['cairn.mdb', 'master.key']);
  await expectServes(into, who, blob);
});

test('[OPS-6] kill -9 of a backup, at any moment, does nothing to the service', async () => {
  const hub = await start();
  const who = await mirrorAccount(hub);
  const kept: Blob[] = [];
  const stop = keepUploading(hub, who, kept);
  await until('some uploads', () => (kept.length > 20 ? true : undefined));
  const folder = temporaryFolder();
  for (let round = 0; round < 12; round += 1) {
    const child = backupProcess(hub, join(folder, `round-${round}`));
    await new Promise((resolve) => setTimeout(resolve, randomInt(100, 700)));
    child.kill('SIGKILL');
    const before = kept.length;
    await until('uploads go on', () => (kept.length > before + 1 ? true : undefined));
  }
  await stop();
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true, blobs: kept.length });
});

function backupProcess(hub: Hub, folder: string): ChildProcess {
  const env = cleanEnvironment({ CAIRN_DATA: hub.dataFolder });
  return spawn(process.execPath, [CAIRN, 'backup', folder], { env, stdio: 'ignore' });
}

test('[OPS-6] stats says how full the file is, and what was freed', async () => {
  const { hub, blob, manifest } = await smallBackup();
  const { code, stdout } = await hub.cli('stats', '--json');
  expect(code).toBe(0);
  const stats = JSON.parse(stdout) as Stats;
  expect(Object.fromEntries(stats.tables.map(({ name, rows }) => [name, rows]))).toEqual(manifest.tables);
  const chunks = stats.tables.find(({ name }) => name === 'mirror_chunks');
  expect(chunks?.bytes).toBeGreaterThan(blob.bytes.length);
  expect(stats.pages * stats.page_bytes).toBeLessThanOrEqual(stats.file_bytes);
  expect(stats.free_bytes).toBe(stats.free_pages * stats.page_bytes);
  expect(stats.tables.reduce((sum, { bytes }) => sum + bytes, stats.free_bytes)).toBeLessThan(stats.file_bytes);
  expect((await hub.cli('stats')).stdout).toContain('mirror_chunks');
  expect(await runCairn(['stats'], { CAIRN_DATA: temporaryFolder() })).toMatchObject({ code: 1 });
});

interface Stats {
  readonly file_bytes: number;
  readonly page_bytes: number;
  readonly pages: number;
  readonly free_pages: number;
  readonly free_bytes: number;
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly bytes: number }[];
}
