/** Copies of saved files: while another process of the same folder lists them, while the hub has no room, while the folder goes. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startHub } from '../../support/hub.ts';
import { keepSave } from '../../support/keep-save.ts';
import { account } from '../../support/mirror.ts';
import { canTrace } from '../../support/strace.ts';
import { syncedFolder, until } from '../../support/synced-folder.ts';

const COPIES = 40;
const MODULE = new URL('../../../dist/src/client/sync/folder/saves.js', import.meta.url).href;
const KEEPS = `
  const { Saves } = await import(${JSON.stringify(MODULE)});
  const saves = new Saves(process.argv[1]);
  const bytes = Buffer.alloc(1024 * 1024, 'x');
  const { createHash } = await import('node:crypto');
  for (let at = 0; at < ${COPIES}; at += 1) {
    bytes.writeUInt32LE(at);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    saves.keep('name', { bytes, sha256, executable: false, modifiedMs: 0 }, '');
  }
`;

test('[SYN-25] a copy that a watch is writing stays when another process lists the copies in that moment', async () => {
  const own = mkdtempSync(join(tmpdir(), 'cairn-saves-'));
  onTestFinished(() => rmSync(own, { recursive: true }));
  const watch = spawn(process.execPath, ['--input-type=module', '--eval', KEEPS, own], { stdio: 'inherit' });
  let code: number | null | undefined;
  watch.once('exit', (ended) => {
    code = ended;
  });
  const other = new Saves(own);
  while (code === undefined) {
    for (const save of other.list()) expect(save.read()?.sha256).toBe(save.sha256);
    await setImmediate();
  }
  expect(code).toBe(0);
  expect(new Saves(own).list()).toHaveLength(COPIES);
});

test('[SYN-25] each save that stood still while the quota is full is a version once there is room, and is named until then', async () => {
  const hub = await startHub({ env: { CAIRN_SYNC_QUOTA_BYTES: '10000' } });
  onTestFinished(async () => {
    await hub.stop();
  });
  const { mcp_key: key } = await account(hub);
  const a = syncedFolder(hub, key, 'notes');
  a.write('filler', 'x'.repeat(9000));
  for (const name of ['one.md', 'two.md', 'three.md']) a.write(name, 'small\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  const watch = a.watch();
  onTestFinished(async () => {
    await watch.kill();
  });
  const copies = () =>
    a.has('.cairn/saves') ? readdirSync(a.at('.cairn/saves')).filter((name) => /^[^.]+$/.test(name)) : [];
  for (const [at, letter] of ['a', 'b', 'c'].entries()) {
    a.write('note.md', letter.repeat(3000));
    await until(() => copies().length > at, watch.output);
  }
  await until(() => watch.output().includes('Earlier saves of it wait'), watch.output);
  expect(copies()).toHaveLength(3);
  expect(await a.sync('status')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/note\.md.*Earlier saves of it/),
  });
  a.remove('filler');
  await until(() => watch.output().match(/pushed +note\.md/g)?.length === 3, watch.output);
  await watch.stop();
  expect(await a.sync()).toMatchObject({ code: 0, stdout: 'up to date\n', stderr: '' });
  expect(copies()).toEqual([]);
  const { stdout } = await a.sync('history', 'note.md', '--json');
  const { versions } = JSON.parse(stdout) as { versions: { sha256: string }[] };
  const hashOf = (letter: string) => createHash('sha256').update(letter.repeat(3000)).digest('hex');
  expect(versions.map(({ sha256 }) => sha256)).toEqual(['c', 'b', 'a'].map(hashOf));
}, 120_000);

test('[SYN-25] an edit of a file in conflict for which the hub has no room is a version when the other side is chosen, and its side once it has room', async () => {
  const hub = await startHub({ env: { CAIRN_SYNC_QUOTA_BYTES: '10000' } });
  onTestFinished(async () => {
    await hub.stop();
  });
  const { mcp_key: key } = await account(hub);
  const [a, b] = [syncedFolder(hub, key, 'notes'), syncedFolder(hub, key, 'notes')];
  const names = ['one.md', 'two.md'] as const;
  for (const name of names) a.write(name, 'before\n');
  for (const at of [1, 2, 3, 4, 5]) a.write(`${at}.md`, `${at}\n`);
  a.write('filler', 'x'.repeat(8500));
  expect(await a.sync()).toMatchObject({ code: 0 });
  await b.sync();
  for (const name of names) {
    a.write(name, `${name} of a\n`);
    b.write(name, `${name} of b\n`);
  }
  await b.sync();
  expect(await a.sync()).toMatchObject({ code: 3 });
  const edits = names.map((name) => `${name} of a, edited: ${'x'.repeat(2000)}\n`);
  for (const [at, name] of names.entries()) a.write(name, edits[at] as string);
  expect(await a.sync()).toMatchObject({ code: 3 });
  // No version is stored either, so nothing is given up.
  await a.sync('resolve', 'one.md', '--keep', 'theirs');
  expect(a.read('one.md')).toBe(edits[0]);
  a.remove('filler');
  await a.sync();
  await a.sync('resolve', 'one.md', '--keep', 'theirs');
  expect(a.read('one.md')).toBe('one.md of b\n');
  const { stdout } = await a.sync('history', 'one.md', '--json');
  expect(stdout).toContain(sha256Of(Buffer.from(edits[0] as string)));
  // The next sync offers the other one again: it is the side that undoes the choice.
  expect(await a.sync()).toMatchObject({ code: 3 });
  const { stdout: settled } = await a.sync('resolve', 'two.md', '--keep', 'theirs');
  const undo = /--seq (c-\S+)/.exec(settled)?.[1] as string;
  expect(a.read('two.md')).toBe('two.md of b\n');
  expect(await a.sync('restore', 'two.md', '--seq', undo)).toMatchObject({ code: 0 });
  await a.sync();
  expect(a.read('two.md')).toBe(edits[1]);
}, 120_000);

test('[SYN-26] saves that are not kept, because those that wait have reached their limit, are a problem in the status until all were sent', async () => {
  const port = await findFreePort();
  const env = { CAIRN_PORT: String(port) };
  const first = await startHub({ env });
  const { mcp_key: key } = await account(first);
  const a = syncedFolder(first, key, 'notes');
  a.write('note.md', 'before\n');
  expect(await a.sync()).toMatchObject({ code: 0 });
  await first.kill();
  const watch = a.watch();
  onTestFinished(async () => {
    await watch.kill();
  });
  await until(() => watch.output().includes('hub is down'), watch.output);
  const saves = new Saves(a.at('.cairn'));
  const [bytes, mib] = [Buffer.alloc(9 * 1024 * 1024), 1024 * 1024];
  // As if a program had saved it some times before.
  for (let at = 0; at < Math.floor((48 * mib) / bytes.length); at += 1) {
    bytes.writeUInt32LE(at);
    const content = { bytes, sha256: sha256Of(bytes), executable: false, modifiedMs: 0 };
    saves.keep('film.bin' as FolderPath, content, '');
  }
  a.write('film.bin', Buffer.alloc(bytes.length, 'x'));
  await until(() => watch.output().includes('film.bin'), watch.output);
  const film = { code: 1, stdout: expect.stringMatching(/film\.bin.*not each save of it is kept/) };
  expect(watch.output().match(/film\.bin/g)).toHaveLength(1);
  expect(await a.sync('status')).toMatchObject(film);
  await watch.stop();
  const again = await startHub({ env, dataFolder: first.dataFolder });
  onTestFinished(async () => {
    await again.stop();
  });
  expect(await a.sync('status')).toMatchObject(film);
  for (const save of saves.list()) save.drop();
  expect(await a.sync()).toMatchObject({ code: 0 });
  expect(await a.sync('status')).toMatchObject({ code: 0, stderr: '' });
}, 120_000);

test.skipIf(!canTrace)(
  '[SYN-25] a save that stood while the loop of the watch was busy, and until it was killed, is a version',
  async () => {
    const hub = await startHub();
    onTestFinished(async () => {
      await hub.stop();
    });
    const { mcp_key: key } = await account(hub);
    const a = syncedFolder(hub, key, 'notes');
    a.write('note.md', 'before\n');
    expect(await a.sync()).toMatchObject({ code: 0 });
    // A disk that takes long to tell of one file: the main thread waits for it, and nothing else does.
    const slow = ['-P', a.at('slow.md'), '-e', 'trace=statx', '-e', 'inject=statx:delay_enter=100000000'];
    const watch = a.watch({}, { wrapper: ['strace', '-D', '-qq', '-o', '/dev/null', ...slow] });
    onTestFinished(async () => {
      await watch.kill();
    });
    await until(() => watch.output().includes('watching'), watch.output);
    a.write('slow.md', 'slow\n');
    await sleep(500);
    const saves = new Saves(a.at('.cairn'));
    for (const text of ['first\n', 'second\n']) {
      a.write('note.md', text);
      await until(() => saves.list().at(-1)?.read()?.bytes.toString() === text, watch.output);
    }
    expect(watch.output()).not.toContain('pushed');
    a.write('note.md', 'third\n');
    const ended = watch.kill();
    // It is not over before the tracer lets go of it.
    const tracer = /^TracerPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${watch.pid}/status`, 'utf8'))?.[1];
    process.kill(Number(tracer), 'SIGKILL');
    await ended;
    expect(await a.sync()).toMatchObject({ code: 0 });
    const { stdout } = await a.sync('history', 'note.md', '--json');
    const { versions } = JSON.parse(stdout) as { versions: { sha256: string }[] };
    const texts = ['third\n', 'second\n', 'first\n', 'before\n'];
    expect(versions.map(({ sha256 }) => sha256)).toEqual(texts.map((text) => sha256Of(Buffer.from(text))));
    expect(saves.list()).toEqual([]);
  },
  120_000,
);

/** Moves the folder away once a file in it is taken aside, which is hashed then. */
const MOVES_AWAY = `
  const { existsSync, renameSync } = await import('node:fs');
  const [root] = process.argv.slice(1);
  process.stdout.write('ready');
  while (existsSync(root + '/d/x'));
  renameSync(root, root + '-away');
`;

/** Takes a file aside while its folder is moved away. True when it was away before the file could be put back. */
async function movedInBetween(): Promise<boolean> {
  const root = mkdtempSync(join(tmpdir(), 'cairn-put-back-'));
  onTestFinished(() => {
    for (const one of [root, `${root}-away`]) rmSync(one, { recursive: true, force: true });
  });
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  mkdirSync(join(root, 'd'));
  writeFileSync(join(root, 'd/x'), '');
  // As long as a file is that is hashed once it is aside.
  truncateSync(join(root, 'd/x'), 10 * 1024 * 1024);
  const mover = spawn(process.execPath, ['--input-type=module', '--eval', MOVES_AWAY, root]);
  const ended = once(mover, 'exit');
  await once(mover.stdout, 'data');
  let thrown: unknown;
  try {
    expect(folder.asides.take('d/x' as FolderPath, join(root, 'd/x'), 'a'.repeat(64))).toBe(false);
  } catch (error) {
    thrown = error;
  }
  if (thrown === undefined) mover.kill();
  await ended;
  if (thrown === undefined) return false;
  expect(thrown).toMatchObject({ code: 'ENOENT' });
  expect(existsSync(root)).toBe(false);
  expect(readdirSync(`${root}-away/.cairn/aside`)).toHaveLength(2);
  return true;
}

test('[SYN-25] a save that is to be put back in the moment in which its folder is moved away makes no folder in its place', async () => {
  let isMet = false;
  for (let tries = 0; tries < 20 && !isMet; tries += 1) isMet = await movedInBetween();
  expect(isMet).toBe(true);
});

test('[SYN-25] a save of which the base is not known never takes the place of what the hub has, and history has it', async () => {
  const hub = await startHub();
  const { mcp_key: key } = await account(hub);
  const a = syncedFolder(hub, key, 'notes');
  a.write('x.md', 'second\n');
  await a.sync();
  // As a thread kept it while the loop pushed the next save, and a kill came before the loop knew of it.
  keepSave(a, { path: 'x.md', text: 'first\n', base: null });
  expect(await a.sync()).toMatchObject({ code: 0, stdout: 'up to date\n' });
  const { stdout } = await a.sync('history', 'x.md', '--json');
  expect(stdout.match(/"seq":\d+/g)).toHaveLength(1);
  const { stdout: told } = await a.sync('history', 'x.md');
  expect(told).toMatch(/not chosen/);
  expect(a.read('x.md')).toBe('second\n');
  await hub.stop();
});
