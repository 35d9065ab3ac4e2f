/** Accidents around a synced folder: misspelt names, killed watches, a disk that was unmounted below it. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { flip } from '../../support/flip.ts';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { canUnshare } from '../../support/small-disk.ts';
import { syncedPair, textsOf, until } from '../../support/synced-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let key: string;

beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
});

const pair = (files: Record<string, string>) => syncedPair(hub, key, files);

test('[SYN-24] a misspelt folder or vault is told, and what only reads makes neither', async () => {
  const [a] = await pair({ 'sub/one.md': '1\n' });
  const parent = temporaryFolder();
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key };
  const run = (...args: string[]) => runCairn(args, env);
  const typo = join(parent, 'typo');
  const vaults = (await run('vault', 'list')).stdout;
  for (const [command, sentence] of [
    [['sync', 'status'], 'is not a synced folder'],
    [['sync', 'resolve', 'x', '--keep', 'mine'], 'is not a synced folder'],
    [['sync', 'pull'], 'is not a synced folder'],
    [['sync', 'pause'], 'is not a synced folder'],
    [['sync', 'list'], 'is not in a synced folder'],
    [['sync'], 'there is no folder'],
    [['sync', 'watch'], 'there is no folder'],
    [['sync', 'status', '--vault', 'no vault of mine'], 'there is no folder'],
    [['sync', 'pull', '--vault', 'no vault of mine'], 'there is no vault'],
  ] as const) {
    const { code, stderr } = await run(...command, '--folder', typo);
    expect({ command, code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(sentence) });
  }
  expect((await run('sync', 'status', '--vault', 'no vault of mine', '--folder', parent)).stderr).toMatch(
    'there is no vault named no vault of mine',
  );
  expect((await run('sync', '--folder', a.at('sub'))).stderr).toMatch(`is inside ${a.folder}`);
  expect(readdirSync(parent)).toEqual([]);
  expect(existsSync(a.at('sub/.cairn'))).toBe(false);
  expect((await run('vault', 'list')).stdout).toBe(vaults);
});

test('[SYN-24] the lock of a killed watch is taken over at once, also when its number is another process by now', async () => {
  const [a] = await pair({ one: '1\n' });
  const first = a.watch();
  await until(() => first.output().includes('watching'), first.output);
  await first.kill();
  const lock = a.at('.cairn/watch.lock');
  writeFileSync(lock, readFileSync(lock, 'utf8').replace(/^\d+/, String(process.pid)));
  const second = a.watch();
  await until(() => second.output().includes('watching'), second.output);
  const third = a.watch();
  expect(await third.ended).toBe(1);
  expect(third.output()).toMatch(/another cairn process watches/);
  await second.stop();
});

test.runIf(canUnshare)(
  '[SYN-25] a filesystem that was mounted below the folder and is gone deletes nothing',
  async () => {
    const [a, b] = await pair({ one: '1\n', two: '2\n', three: '3\n' });
    mkdirSync(a.at('disk'));
    const mount = `mount -t tmpfs tmpfs '${a.at('disk')}' && echo kept >'${a.at('disk/file')}' && exec "$@"`;
    expect(await a.syncUnder(['unshare', '-rm', 'sh', '-c', mount, 'sh'])).toMatchObject({ code: 0 });
    await b.sync();
    expect(b.read('disk/file')).toBe('kept\n');
    const unmounted = await a.sync();
    expect(unmounted).toMatchObject({ code: 1, stderr: expect.stringMatching(/disk is not synced\. .*mounted/) });
    b.write('disk/more', 'more\n');
    await b.sync();
    await a.sync();
    expect(readdirSync(a.at('disk'))).toEqual([]);
    expect((await a.sync('status')).stdout).toMatch(/disk .*mounted/);
    expect(await a.sync('--restore-missing')).toMatchObject({ code: 0 });
    expect(textsOf(a)).toEqual(textsOf(b));
  },
);

test('[SYN-24] status names a file of which only the executable bit differs', async () => {
  const [a, b] = await pair({ 'run.sh': 'true\n' });
  chmodSync(a.at('run.sh'), 0o755);
  expect(JSON.parse((await a.sync('status', '--json')).stdout)).toMatchObject({ push: ['run.sh'], pull: [] });
  await a.sync();
  expect(JSON.parse((await b.sync('status', '--json')).stdout)).toMatchObject({ push: [], pull: ['run.sh'] });
  await b.sync();
  expect((await b.sync('status')).stdout).toBe('up to date\n');
});

test('[SYN-24] a vault that is deleted ends a watch with a sentence, and every later command says it', async () => {
  const [a] = await pair({ one: '1\n' });
  const { vault_id: id } = JSON.parse(a.read('.cairn/state.json')) as { vault_id: string };
  const env = { CAIRN_SERVER: hub.url, CAIRN_KEY: key };
  const { vaults } = JSON.parse((await runCairn(['vault', 'list', '--json'], env)).stdout) as {
    vaults: { vault_id: string; name: string }[];
  };
  const name = vaults.find(({ vault_id: other }) => other === id)?.name ?? '';
  const watcher = a.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  expect(await runCairn(['vault', 'delete', name, '--confirm', name], env)).toMatchObject({ code: 0 });
  expect(await watcher.ended).toBe(1);
  expect(watcher.output()).toMatch(/no longer on the hub\. The files here stay as they are/);
  expect(a.read('one')).toBe('1\n');
  for (const command of [['sync'], ['sync', 'status'], ['sync', 'log']]) {
    const { code, stderr } = await runCairn([...command, '--folder', a.folder], env);
    expect({ command, code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/no longer on the hub/) });
  }
});

test.runIf(canUnshare)('[SYN-24] a disk that is full stops no smaller file, and says so', async () => {
  const [a, b] = await pair({ small: 'small\n' });
  a.write('large', Buffer.alloc(3 * 2 ** 20, 'x'));
  a.write('other', 'other\n');
  await a.sync();
  const mount = `mount -t tmpfs -o size=1m tmpfs '${b.folder}' && exec "$@"`;
  const { code, stdout, stderr } = await b.syncUnder(['unshare', '-rm', 'sh', '-c', mount, 'sh']);
  expect({ code, stdout, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/large is not synced\. The disk is full/),
  });
  expect(stdout).toMatch(/pulled +other/);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test.runIf(canUnshare)(
  '[SYN-24, SYN-25] a disk that is almost full, or full, damages no state, and the sync goes on once there is room',
  async () => {
    const many = Array.from({ length: 1000 }, (_, at) => [`notes/note ${at}.md`, `note ${at}\n`]);
    const [a, b] = await pair(Object.fromEntries(many));
    const fill = (leftKiB: number) =>
      `dd if=/dev/zero of=.cairn/filler bs=1k count=$(($(df --output=avail -k . | tail -1) - ${leftKiB}))`;
    const sync = 'timeout 60 "$@"; echo "ended with $?"';
    // A state that is written anew: of every file the time has changed.
    const run = `touch notes/*; echo one more >> 'notes/note 1.md'; ${sync}`;
    const steps = [
      `mount -t tmpfs -o size=16m tmpfs '${b.folder}' && cd '${b.folder}'`,
      sync,
      // Less than the state has, so that only its beginning has room; then nothing at all.
      `${fill(100)}; ${run}; rm .cairn/filler; ${run}`,
      `cat /dev/zero > .cairn/filler; ${sync}; rm .cairn/filler; ${run}`,
    ];
    const { stdout, stderr } = await b.syncUnder(['unshare', '-rm', 'sh', '-c', steps.join('\n'), 'sh']);
    const ends = [...stdout.matchAll(/ended with (\d+)/g)].map(([, code]) => code);
    expect({ ends, stdout, stderr }).toMatchObject({ ends: ['0', '1', '0', '1', '0'] });
    expect(stderr.match(/cairn: .*ENOSPC.*free some space/g)).toHaveLength(2);
    expect(stderr).not.toMatch(/\n\s+at |damaged/);
    await a.sync();
    expect(a.read('notes/note 1.md')).toBe('note 1\none more\none more\none more\n');
  },
  120_000,
);

test('[SYN-25] a folder that is a git repository keeps its state out of it, also when git cleans up', async () => {
  const [a, b] = await pair({ 'src/x.c': '1\n', README: 'first\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd: a.folder }).toString();
  git('init', '-q');
  // As a full disk left it.
  a.write('.cairn/.gitignore', '');
  expect(await a.sync()).toMatchObject({ code: 0 });
  git('add', '-A');
  git('commit', '-qm', 'one');
  expect(git('ls-files')).toBe('README\nsrc/x.c\n');
  a.write('README', 'second\n');
  a.write('built.o', 'built\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  git('stash', '-q');
  git('clean', '-fdq');
  expect(git('status', '--porcelain')).toBe('');
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await b.sync()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual({ 'src/x.c': '1\n', README: 'first\n' });
  expect(b.has('.git')).toBe(false);
});

test("[SYN-24, OPS-10] a file of which the hub's copy is damaged is named, stays where it is, and is restored by a device that has it", async () => {
  const [old, text] = [`${randomBytes(2000).toString('hex')}\n`, `${randomBytes(20_000).toString('hex')}\n`];
  const [a, b] = await pair({ 'kept.md': old, 'fresh.md': '1\n', 'other.md': '2\n' });
  a.write('kept.md', text);
  a.write('fresh.md', text.slice(0, 30_000));
  await a.sync();
  flip(hub.dataFolder, text.slice(300, 364));
  expect(await hub.cli('verify', '--quarantine')).toMatchObject({ code: 0 });
  for (const command of [[], ['status'], []]) {
    const { code, stdout, stderr } = await b.sync(...command);
    expect({ code, told: stdout + stderr }).toEqual({
      code: 1,
      told: expect.stringMatching(/kept\.md.*The hub's copy is damaged.*cairn sync history kept\.md/),
    });
    expect(textsOf(b)).toEqual({ 'kept.md': old, 'fresh.md': '1\n', 'other.md': '2\n' });
  }
  expect((await a.sync('status')).stdout).toMatch(/push +fresh\.md\npush +kept\.md/);
  expect(await a.sync()).toMatchObject({ code: 0, stdout: expect.stringMatching(/pushed +kept\.md/) });
  for (const machine of [a, b]) expect(await machine.sync()).toMatchObject({ code: 0, stderr: '' });
  expect(textsOf(b)).toEqual(textsOf(a));
  expect(await b.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
});

test('[SYN-24, OPS-10] a watch finds that the copy of a file on the hub was damaged meanwhile, and restores it from its own', async () => {
  const text = `${randomBytes(20_000).toString('hex')}\n`;
  const [a, b] = await pair({ 'kept.md': text });
  const watcher = b.watch();
  await until(() => watcher.output().includes('watching'), watcher.output);
  flip(hub.dataFolder, text.slice(300, 364));
  expect(await hub.cli('verify', '--quarantine')).toMatchObject({ code: 0 });
  // A watch asks for news once a minute at the latest.
  await vi.waitFor(() => expect(watcher.output()).toMatch(/pushed +kept\.md/), { timeout: 90_000, interval: 500 });
  await watcher.stop();
  expect(await a.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  expect(await hub.cli('verify')).toMatchObject({ code: 0 });
}, 120_000);

test("[SYN-25, OPS-10] bytes written late to a file of which the hub's copy is damaged are kept, and the sync goes on", async () => {
  const text = `${randomBytes(20_000).toString('hex')}\n`;
  const [, b] = await pair({ 'kept.md': text });
  b.write('.cairn/aside/late', 'written late\n');
  b.write('.cairn/aside/late.json', JSON.stringify({ path: 'kept.md', sha256: '0'.repeat(64) }));
  flip(hub.dataFolder, text.slice(300, 364));
  expect(await hub.cli('verify', '--quarantine')).toMatchObject({ code: 0 });
  // The sweep leaves young files alone; their age is their change time, which nobody can set.
  await sleep(statSync(b.at('.cairn/aside/late.json')).ctimeMs + 10_500 - Date.now());
  const { stdout, stderr } = await b.sync();
  expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringMatching(/kept as kept \(conflict/) });
  expect(Object.values(textsOf(b)).sort()).toEqual([text, 'written late\n'].sort());
}, 180_000);

test('[SYN-24, SYN-25] on a disk without permissions a folder syncs, and leaves the executable bits of other devices', async () => {
  const [a, b] = await pair({ 'notes.md': '1\n', 'tool.sh': '#!/bin/sh\n', 'other.sh': '#!/bin/sh\n' });
  chmodSync(a.at('tool.sh'), 0o755);
  expect(await a.sync()).toMatchObject({ code: 0 });
  const env = {
    CAIRN_SERVER: hub.url,
    CAIRN_KEY: key,
    TEST_MODELESS_DISK: b.folder,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, '../../support/modeless-disk.mjs')}`,
  };
  const onDisk = (...args: string[]) => runCairn(['sync', ...args, '--folder', b.folder], env);
  expect(await onDisk()).toMatchObject({ code: 0, stderr: '' });
  expect(await onDisk()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  expect(await onDisk('status')).toMatchObject({ code: 0, stdout: 'up to date\n' });
  b.write('notes.md', '2\n');
  b.write('tool.sh', '#!/bin/bash\n');
  b.write('new.md', 'new\n');
  a.write('other.sh', '#!/bin/bash\n');
  chmodSync(a.at('other.sh'), 0o755);
  expect(await a.sync()).toMatchObject({ code: 0 });
  for (const next of [onDisk, a.sync, onDisk]) expect(await next()).toMatchObject({ code: 0 });
  expect(textsOf(b)).toEqual(textsOf(a));
  const isExecutable = (path: string) => (statSync(a.at(path)).mode & 0o100) !== 0;
  const executable = ['notes.md', 'tool.sh', 'new.md', 'other.sh'].filter(isExecutable);
  expect(executable).toEqual(['tool.sh', 'other.sh']);
  expect(await onDisk('status')).toMatchObject({ code: 0, stdout: 'up to date\n' });
}, 180_000);

test('[SYN-24] a modification time is the same on every device, to the millisecond', async () => {
  const [a, b] = await pair({ 'dated.md': '1\n' });
  const times = Array.from({ length: 20 }, (_, at) => 1_786_000_000_917 + at * 7_919);
  for (const [at, ms] of times.entries()) {
    a.write(`${at}.md`, `${at}\n`);
    utimesSync(a.at(`${at}.md`), new Date(ms), new Date(ms));
  }
  await a.sync();
  await b.sync();
  const timesOf = ({ at }: typeof a) => times.map((_, index) => Math.floor(statSync(at(`${index}.md`)).mtimeMs));
  expect(timesOf(b)).toEqual(timesOf(a));
});
