/** cairn sync watch: it is never deaf or silent, asks no more than it must, and ends where it cannot go on. */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { startRelay } from '../../support/relay.ts';
import { canUnshare } from '../../support/small-disk.ts';
import { type SyncedFolder, syncedFolder, syncedPair, textsOf, until } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

/** Two machines on one new vault that both have these files; the second speaks through a relay. */
async function pair(files: Record<string, string>) {
  const relay = await startRelay(hub);
  const [a, b] = await syncedPair(hub, key, files, { through: relay });
  return { a, b, relay };
}

const said = (output: string, what: RegExp) => output.match(new RegExp(what, 'g'))?.length ?? 0;

const isLike = (a: SyncedFolder, b: SyncedFolder) => () => JSON.stringify(textsOf(a)) === JSON.stringify(textsOf(b));

test('[SYN-24] a delete on the hub reaches a watch, which then waits again instead of asking without a pause', async () => {
  const { a, b, relay } = await pair({ one: '1\n', two: '2\n', three: '3\n' });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  a.remove('one');
  await a.sync();
  await until(() => !b.has('one'), watcher.output);
  a.write('two', '2, changed\n');
  await a.sync();
  await until(isLike(a, b), watcher.output);
  const before = relay.requests.length;
  await sleep(3000);
  expect(relay.requests.length - before).toBeLessThan(5);
  await watcher.stop();
  await relay.close();
}, 180_000);

test('[SYN-24] a watch does not sync again for the files that it pulled itself', async () => {
  const { a, b, relay } = await pair({ one: '0\n' });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  await sleep(1000);
  const before = relay.requests.length;
  const rounds = 5;
  for (let round = 1; round <= rounds; round += 1) {
    a.write('one', `${round}\n`);
    await a.sync();
    await until(isLike(a, b), watcher.output);
    await sleep(1500);
  }
  // Each time one pull, and one wait for news; another sync would pull and wait again.
  expect(relay.requests.length - before).toBeLessThan(3 * rounds);
  b.write('one', 'of b\n');
  await until(async () => {
    await a.sync();
    return a.read('one') === 'of b\n';
  }, watcher.output);
  await watcher.stop();
  await relay.close();
}, 180_000);

test('[SYN-24] a watch goes on with the rest while deletes wait for a word, which another process may give', async () => {
  const { a, b, relay } = await pair({ one: '1\n', two: '2\n', three: '3\n', four: '4\n' });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  for (const path of ['one', 'two', 'three']) b.remove(path);
  await until(() => watcher.output().includes('--allow-deletes'));
  b.write('new', 'new\n');
  a.write('four', '4, changed\n');
  await a.sync();
  await until(async () => {
    await a.sync();
    return a.has('new') && b.read('four') === '4, changed\n';
  }, watcher.output);
  expect(a.has('one')).toBe(true);
  expect(said(watcher.output(), /--allow-deletes/)).toBe(1);
  await b.sync('--allow-deletes');
  await a.sync();
  expect(textsOf(a)).toEqual({ four: '4, changed\n', new: 'new\n' });
  b.write('later', 'later\n');
  await until(async () => (await a.sync()).code === 0 && a.has('later'), watcher.output);
  expect(await watcher.stop()).toBe(0);
  await relay.close();
}, 180_000);

test('[SYN-24] a hub that is down is told once, and once that it is back; a start while it is down waits for it', async () => {
  const { a, b, relay } = await pair({ one: '1\n' });
  const fresh = syncedFolder(relay, key, `vault ${randomBytes(4).toString('hex')}`);
  fresh.write('first', 'first\n');
  const known = syncedFolder(relay, key, `vault ${randomBytes(4).toString('hex')}`);
  expect(await known.sync()).toMatchObject({ code: 0 });
  known.write('second', 'second\n');
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  await relay.close();
  const late = fresh.watch();
  const again = known.watch();
  b.write('offline', 'offline\n');
  await until(() => watcher.output().includes('The hub is down'));
  await until(() => late.output().includes('cannot connect'));
  await sleep(4000);
  await relay.open();
  await until(() => watcher.output().includes('back'), watcher.output);
  await until(() => late.output().includes('pushed'), late.output);
  await until(() => again.output().includes('pushed'), again.output);
  await until(async () => (await a.sync()).code === 0 && a.has('offline'));
  expect([said(watcher.output(), /hub is down/), said(watcher.output(), /back/)]).toEqual([1, 1]);
  expect(watcher.output()).not.toMatch(/HTTP|ECONN|\b50\d\b/);
  await Promise.all([watcher.stop(), late.stop(), again.stop()]);
  await relay.close();
}, 180_000);

test('[SYN-24] what no waiting mends ends a watch with an exit code and a sentence', async () => {
  const { b, relay } = await pair({ one: '1\n' });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  const second = b.watch();
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain('watches');
  relay.rules = { answers: () => ({ status: 401, body: '{"error":"no"}' }) };
  b.write('two', '2\n');
  expect(await watcher.ended).toBe(1);
  expect(watcher.output()).toContain('cairn login');
  expect(watcher.output()).not.toMatch(/401/);
  relay.rules = {};
  const third = b.watch();
  await until(() => third.output().includes('pushed'), third.output);
  renameSync(b.folder, `${b.folder}-moved`);
  relay.rules = { answers: () => undefined };
  expect(await third.ended).toBe(1);
  expect(third.output()).toContain('moved, replaced or unmounted');
  expect(b.has('.')).toBe(false);
  renameSync(`${b.folder}-moved`, b.folder);
  expect(await b.sync()).toMatchObject({ code: 0 });
  await relay.close();
}, 180_000);

test('[SYN-25] a watched folder whose files and state are removed deletes nothing on the hub', async () => {
  const { a, b, relay } = await pair({ one: '1\n', 'two/deep': '2\n' });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  // The watch may write to its folder in this moment.
  for (const path of ['one', 'two', '.cairn']) rmSync(b.at(path), { maxRetries: 10, recursive: true });
  expect(await watcher.ended).toBe(1);
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(textsOf(a)).toEqual({ one: '1\n', 'two/deep': '2\n' });
  await relay.close();
}, 180_000);

test('[CLI-2] a paused folder is not synced until it is resumed', async () => {
  const { a, b, relay } = await pair({ one: '1\n' });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'));
  expect(await b.sync('pause')).toMatchObject({ code: 0 });
  b.write('two', '2\n');
  await until(() => watcher.output().includes('paused'), watcher.output);
  await sleep(1500);
  await a.sync();
  expect(a.has('two')).toBe(false);
  expect(await b.sync()).toMatchObject({ code: 1, stderr: expect.stringContaining('resume') });
  expect((await b.sync('status')).stderr).toContain('cairn sync resume');
  await watcher.stop();
  // A watch says that it watches once it has read the folder: not before.
  const later = b.watch();
  await until(() => later.output().includes('paused'), later.output);
  expect(later.output()).not.toContain('watching');
  expect(await b.sync('resume')).toMatchObject({ code: 0 });
  await until(async () => (await a.sync()).code === 0 && a.has('two'), later.output);
  expect(later.output()).toContain('watching');
  await later.stop();
  await relay.close();
}, 180_000);

test('[CLI-2] one process watches every folder of a list, and one that is wrong does not stop the others', async () => {
  const vaults = [0, 1].map((at) => `vault ${at} ${randomBytes(4).toString('hex')}`);
  const [one, two] = vaults.map((vault) => syncedFolder(hub, key, vault)) as [SyncedFolder, SyncedFolder];
  const config = temporaryFolder();
  const folders = [
    { folder: one.folder, vault: vaults[0] },
    { folder: two.folder, vault: vaults[1], only: ['*.md'], limit_upload: '500K' },
    { folder: two.folder.concat('-slow'), vault: vaults[1], limit_upload: '1' },
  ];
  mkdirSync(join(config, 'cairn'));
  writeFileSync(join(config, 'cairn', 'sync.json'), JSON.stringify({ folders }));
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key, XDG_CONFIG_HOME: config };
  const child = spawn(process.execPath, [CAIRN, 'sync', 'watch', '--all'], { env: cleanEnvironment(env) });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      output += part.toString();
    });
  }
  one.write('a.txt', 'one\n');
  two.write('b.md', 'two\n');
  two.write('c.txt', 'left out\n');
  const [first, second] = vaults.map((vault) => syncedFolder(hub, key, vault)) as [SyncedFolder, SyncedFolder];
  await until(
    async () => (await first.sync()).code === 0 && first.has('a.txt'),
    () => output,
  );
  await until(
    async () => (await second.sync()).code === 0 && second.has('b.md'),
    () => output,
  );
  expect(textsOf(second)).toEqual({ 'b.md': 'two\n' });
  expect(output).toMatch(/-slow: --limit-upload must be .* no longer synced/);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await ended).toBe(1);
}, 180_000);

test('[CLI-2] a limit too low for a hub is refused, and what is not chosen stays where it is', async () => {
  const [a, b] = await pairOf();
  a.write('big.bin', randomBytes(200_000));
  a.write('small.md', 'small\n');
  a.write('notes/deep.txt', 'deep\n');
  expect(await a.sync('--limit-upload', '10')).toMatchObject({ code: 1, stderr: expect.stringContaining('500K') });
  expect(await a.sync('--limit-upload', '512K')).toMatchObject({ code: 0 });
  expect(await b.sync('--only', '*.md', '--only', 'notes/', '--limit-download', '512K')).toMatchObject({ code: 0 });
  expect(Object.keys(textsOf(b))).toEqual(['notes/deep.txt', 'small.md']);
  b.write('own.bin', 'stays here\n');
  expect((await b.sync()).stdout.trim()).toBe('up to date');
  const missed = await b.sync('--only', 'note/', '--only', '*.md');
  expect(missed.stdout).not.toMatch('up to date');
  expect(missed.stderr).toBe(
    "cairn: No file here or on the hub matches --only note/. Sync again with another --only; --only '*' syncs everything.\n",
  );
  expect(await b.sync('--only', '*')).toMatchObject({ code: 0 });
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(a.has('own.bin')).toBe(true);
}, 180_000);

test('[SYN-24] a watch goes on beside names that no hub takes, saved before it started and while it runs', async () => {
  const [a, b] = await pairOf();
  for (const name of ['blank\u3164.md', '... .md/...', '. .']) a.write(name, 'here\n');
  expect(await a.sync()).toMatchObject({ code: 1 });
  const [left, right] = [a.watch(), b.watch()];
  const arrives = async (name: string) => {
    a.write(name, name);
    await until(
      () => b.has(name),
      () => left.output() + right.output(),
    );
  };
  await arrives('first.md');
  a.write('blank\u3164.md', 'saved again\n');
  await sleep(1500);
  await arrives('second.md');
  await sleep(1500);
  await arrives('third.md');
  expect(left.output()).not.toMatch('Trying again');
  for (const one of [left, right]) await one.stop();
}, 180_000);

async function pairOf(): Promise<[SyncedFolder, SyncedFolder]> {
  const { a, b, relay } = await pair({ first: 'first\n' });
  await relay.close();
  return [a, syncedFolder(hub, key, await vaultNameOf(a), b.folder.concat('-2'))];
}

async function vaultNameOf(machine: SyncedFolder): Promise<string> {
  const { vault_id: id } = JSON.parse(machine.read('.cairn/state.json')) as { vault_id: string };
  const { vaults } = JSON.parse((await machine.call('vault_list', '--json')).stdout) as {
    vaults: { vault_id: string; name: string }[];
  };
  return vaults.find(({ vault_id: other }) => other === id)?.name ?? '';
}

test.runIf(canUnshare)(
  '[SYN-24] a system that watches no more folders is told once, with a way out, and changes are found',
  async () => {
    // Fewer than the guard holds back when all of them are rewritten.
    const files = Array.from({ length: 25 }, (_, at) => [`d${at}/f`, `${at}\n`]);
    const { a, b, relay } = await pair(Object.fromEntries(files));
    const few = ['unshare', '-r', 'sh', '-c', 'echo 10 > /proc/sys/user/max_inotify_watches; exec "$0" "$@"'];
    const watcher = b.watch({}, { wrapper: few });
    await until(() => /sysctl.*watching/s.test(watcher.output()), watcher.output);
    // Fewer than the guard against mass rewrites holds back, and more than are watched.
    const changed = files.slice(20, 36);
    for (const [path] of changed) b.write(path ?? '', 'changed\n');
    await until(async () => {
      await a.sync();
      return changed.every(([path]) => a.read(path ?? '') === 'changed\n');
    }, watcher.output);
    expect(textsOf(a)).toEqual(textsOf(b));
    expect(said(watcher.output(), /noticed at once/)).toBe(1);
    expect(watcher.output()).not.toMatch(/Trying again/);
    await watcher.stop();
    await relay.close();
  },
  180_000,
);

test.runIf(canUnshare)(
  '[SYN-24] a full disk is told by a watch, by status and at the end, and what does not fit is asked for less and less often',
  async () => {
    const files = Array.from({ length: 12 }, (_, at) => [`f${at}.bin`, randomBytes(200_000)] as const);
    const relay = await startRelay(hub);
    const [, b] = await syncedPair(hub, key, Object.fromEntries(files), { isShared: false, through: relay });
    const room = `mount -t tmpfs -o size=1m tmpfs '${b.folder}' && exec "$0" "$@"`;
    const watcher = b.watch({}, { wrapper: ['unshare', '-rm', 'sh', '-c', room] });
    await until(() => /disk is full/.test(watcher.output()), watcher.output);
    const before = relay.requests.length;
    await sleep(10_000);
    const downloads = relay.requests
      .slice(before)
      .filter(({ body }) => /"paths":/.test(body) && !/"brief":true/.test(body));
    // After 1, 2, 4 and 8 s.
    for (const [path] of files)
      expect(downloads.filter(({ body }) => body.includes(`"${path}"`)).length, path).toBeLessThan(6);
    const lines = watcher
      .output()
      .split('\n')
      .filter((line) => line.includes('disk is full'));
    expect(new Set(lines).size).toBe(lines.length);
    const pid = String(watcher.pid);
    const status = await b.syncUnder(['nsenter', '-t', pid, '-m', '-U', '--preserve-credentials'], 'status');
    expect(status).toMatchObject({ code: 1, stdout: expect.stringMatching(/disk is full/) });
    expect(await watcher.stop()).toBe(1);
    await relay.close();
  },
  180_000,
);

test('[SYN-24] thousands of files that come at once, as with a checkout, arrive while both folders are watched', async () => {
  const { a, b, relay } = await pair({ one: '1\n' });
  const watchers = [a.watch(), b.watch()];
  for (const watcher of watchers) await until(() => watcher.output().includes('watching'), watcher.output);
  for (let at = 0; at < 3000; at += 1) b.write(`modules/m${at % 100}/lib/f${at}.js`, `module.exports = ${at};\n`);
  const count = () => Object.keys(textsOf(a)).length;
  // As long as some arrive, more will.
  for (let arrived = count(); arrived < 3001; arrived = count()) {
    const before = arrived;
    await until(
      () => count() > before,
      () => watchers.map(({ output }) => output()).join('\n'),
    );
  }
  expect(textsOf(a)).toEqual(textsOf(b));
  for (const watcher of watchers) await watcher.stop();
  await relay.close();
}, 180_000);
