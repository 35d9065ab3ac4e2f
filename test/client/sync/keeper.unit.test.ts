/** Copies of saves: of files from before the watch, and while their folder is moved away. */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withFileLock } from '../../../src/client/file-lock.ts';
import { newState } from '../../../src/client/sync/base/state.ts';
import { writeState } from '../../../src/client/sync/base/state-file.ts';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { newRound } from '../../../src/client/sync/round.ts';
import { Bell } from '../../../src/client/sync/run/bell.ts';
import { noteWritten } from '../../../src/client/sync/run/inbox.ts';
import { scanFiles } from '../../../src/client/sync/run/scan-files.ts';
import type { Scan } from '../../../src/client/sync/scan/scan.ts';
import { THIS_SYSTEM } from '../../../src/client/sync/watch/folder-watches.ts';
import { keepSaves } from '../../../src/client/sync/watch/keep.ts';
import type { StartThread } from '../../../src/client/sync/watch/keeper.ts';
import { limits } from '../../../src/limits/service.ts';
import { diskOf, keeperOf, keptFolder, stepOf } from './kept-folder.ts';

test('[SYN-25] a file that was saved before the watch is kept once it stands still, and not again by later scans', async () => {
  const { root, folder, state } = keptFolder();
  const keeper = keeperOf({ folder, state });
  const replica = stepOf({ folder, state }, { onScan: (scan) => keeper.noteScan(scan) });
  writeFileSync(join(root, 'x'), 'saved before\n');
  await scanFiles({ ...replica, next: newRound() });
  await expect.poll(() => folder.saves.list()).toHaveLength(1);
  const [save] = folder.saves.list();
  expect(save?.read()?.bytes.toString()).toBe('saved before\n');
  // Sent: a scan that finds the same bytes again keeps no second copy.
  save?.drop();
  await scanFiles({ ...replica, next: newRound() });
  await expect(vi.waitFor(() => expect(folder.saves.list()).toHaveLength(1), { timeout: 2000 })).rejects.toThrow();
});

test('[SYN-25] once very many files were sent, one that a scan finds changed is kept', async () => {
  const { root, folder, state } = keptFolder();
  for (let at = 0; at <= limits.clientPushFiles; at += 1) writeFileSync(join(root, `${at}`), `${at}`);
  const looked: string[] = [];
  const keeper = keeperOf({ folder, state }, {}, () => ({
    send: (message) => void (message.type === 'changed' && looked.push(message.path)),
    close: () => Promise.resolve(),
  }));
  let noticed: ReadonlySet<string> | 'all' = 'all';
  const takeNoticed = () => noticed;
  const replica = stepOf({ folder, state }, { onScan: (scan) => keeper.noteScan(scan), takeNoticed });
  const step = { ...replica, next: newRound() };
  const { files } = await scanFiles(step);
  // So many at once are a first sync.
  expect([files.size, looked]).toEqual([limits.clientPushFiles + 1, []]);
  for (const [path, file] of files) state.agree(path, file);
  writeFileSync(join(root, '7'), 'saved since');
  noticed = new Set(['7']);
  await scanFiles(step);
  expect(looked).toEqual(['7']);
});

test('[SYN-25] where very many files were not sent yet, those that changed last before the watch are kept, and each that changes since', async () => {
  const { root, folder, state } = keptFolder('7');
  for (let at = 0; at <= limits.clientPushFiles; at += 1) writeFileSync(join(root, `${at}`), `${at}`);
  const first = lstatSync(join(root, '0')).ctimeMs;
  // Within the resolution of the disk’s clock, the times would be the same.
  do writeFileSync(join(root, 'last'), 'saved right before the watch was killed');
  while (lstatSync(join(root, 'last')).ctimeMs <= lstatSync(join(root, '1')).ctimeMs);
  expect(lstatSync(join(root, 'last')).ctimeMs).toBeGreaterThan(first);
  let looked: string[] = [];
  const threads: Parameters<StartThread>[1][] = [];
  const keeper = keeperOf({ folder, state }, {}, (_, heard) => {
    threads.push(heard);
    return {
      send: (message) => void (message.type === 'changed' && looked.push(message.path)),
      close: () => Promise.resolve(),
    };
  });
  let noticed: ReadonlySet<string> | 'all' = 'all';
  const replica = stepOf(
    { folder, state },
    {
      onScan: (scan) => keeper.noteScan(scan),
      takeNoticed: () => noticed,
    },
  );
  const step = { ...replica, next: newRound() };
  await scanFiles(step);
  expect([looked.length, looked.includes('last')]).toEqual([limits.clientPushFiles, true]);
  looked = [];
  writeFileSync(join(root, '7'), 'saved since');
  noticed = new Set(['7']);
  await scanFiles(step);
  expect(looked).toEqual(['7']);
  // What is there when another thread takes over stands under it as well.
  looked = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  threads[0]?.failed(new Error('it ran out of memory'));
  writeFileSync(join(root, '8'), 'saved while nothing kept it');
  noticed = new Set(['8']);
  await scanFiles(step);
  vi.advanceTimersByTime(limits.clientRetryMsMax);
  expect([threads.length, looked.length]).toEqual([2, limits.clientPushFiles]);
  expect(looked).toEqual(expect.arrayContaining(['7', '8', 'last']));
});

test('[SYN-25] after its folder was away for a moment, a watch notices saves at its top, keeps them and what was saved right before', async () => {
  const { root, folder, state } = keptFolder();
  const keeper = keeperOf({ folder, state });
  const changes = new Bell();
  // The thread has a watch of its own.
  const disk = diskOf(folder.root.path, changes);
  const onScan = (scan: Scan) => {
    disk.endScan();
    keeper.noteScan(scan);
  };
  await scanFiles(stepOf({ folder, state }, { onFolder: (path) => disk.visit(path), onScan }));
  expect(disk.takeNoticed()).toBe('all');
  const isKept = async (...texts: string[]) => {
    const kept = () => folder.saves.list().map((save) => save.read()?.bytes.toString());
    await expect.poll(kept).toEqual(expect.arrayContaining(texts));
  };
  // Once for each: the report, and the look at a file that stands still, come while the folder is away.
  for (const pauseMs of [0, limits.clientStillMs - limits.clientQuietMs]) {
    writeFileSync(join(root, 'before'), `before ${pauseMs}\n`);
    await sleep(pauseMs);
    renameSync(root, `${root}-away`);
    await sleep(limits.clientStillMs);
    renameSync(`${root}-away`, root);
    await isKept(`before ${pauseMs}\n`);
    await sleep(limits.clientQuietMs);
    // What a scan missed meanwhile is found by the next one.
    expect(disk.takeNoticed()).toBe('all');
    changes.silence();
    writeFileSync(join(root, 'after'), `after ${pauseMs}\n`);
    await changes.rung();
    await isKept(`after ${pauseMs}\n`);
  }
}, 120_000);

test('[SYN-25] where the system watches no more folders for the thread, the watch says so, and hands over what it notices itself', async () => {
  const { root, folder, state } = keptFolder();
  mkdirSync(join(root, 'seen'));
  mkdirSync(join(root, 'unseen'));
  const told: string[] = [];
  const watch: typeof THIS_SYSTEM.watch = (path, how) => {
    if (path.endsWith('unseen')) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    return THIS_SYSTEM.watch(path, how);
  };
  const start: StartThread = (data, { message }) => {
    const keeps = keepSaves(data, (one) => setImmediate(() => message(one)), { ...THIS_SYSTEM, watch });
    return { send: (one) => keeps.hear(one), close: () => Promise.resolve(keeps.hear({ type: 'close' })) };
  };
  const ready = new Bell();
  const keeper = keeperOf(
    { folder, state },
    { onLost: (sentence) => told.push(sentence), onReady: () => ready.ring() },
    start,
  );
  await scanFiles(stepOf({ folder, state }, { onScan: (scan) => keeper.noteScan(scan) }));
  await ready.rung();
  expect(told).toEqual([
    'Saves may not be kept while a sync is under way (the system watches no more folders). To raise the limit: sudo sysctl fs.inotify.max_user_watches=1048576',
  ]);
  writeFileSync(join(root, 'seen/x'), 'seen');
  writeFileSync(join(root, 'unseen/x'), 'unseen');
  keeper.changed(join(root, 'unseen/x'));
  const kept = () => folder.saves.list().map(({ path }) => path);
  await expect.poll(() => kept().toSorted()).toEqual(['seen/x', 'unseen/x']);
});

test('[SYN-25] saves are kept in files and folders that replaced others under the same name, once and again', async () => {
  const { root, folder, state } = keptFolder();
  const at = (path: string) => join(root, path);
  const put = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  for (const path of ['file', 'turned', 'folder/x', 'folder/deep/x', 'back/x', 'here/deep/x']) put(path, 'first\n');
  const keeper = keeperOf({ folder, state });
  const changes = new Bell();
  let last: Scan | undefined;
  const excludes = (path: string) => last?.excludes(path as FolderPath) === true;
  const disk = diskOf(folder.root.path, changes, { keeper, excludes });
  const onScan = (scan: Scan) => {
    last = scan;
    if (scan.looked === undefined) disk.endScan();
    keeper.noteScan(scan);
  };
  const replica = stepOf({ folder, state }, { onFolder: (path) => disk.visit(path), onScan });
  await scanFiles({ ...replica, next: newRound() });
  const files = ['file', 'turned/inside', 'folder/x', 'folder/deep/x', 'back', 'there/deep/x'];
  const areKept = async (text: string) => {
    const isKept = (path: string) =>
      folder.saves.list().some((save) => save.path === path && save.read()?.bytes.toString() === text);
    await expect.poll(() => files.filter((path) => !isKept(path))).toEqual([]);
  };
  for (const path of ['file', 'turned', 'folder', 'back']) rmSync(at(path), { recursive: true });
  mkdirSync(at('there'));
  renameSync(at('here/deep'), at('there/deep'));
  // Nobody scans from here on.
  for (const text of ['replaced\n', 'edited\n', 'edited again\n']) {
    for (const path of files) put(path, text);
    await areKept(text);
  }
  await sleep(limits.clientQuietMs);
  for (const path of ['folder/deep/new', 'folder/deep/new folder/x', 'there/deep/new']) {
    changes.silence();
    put(path, 'new\n');
    await changes.rung();
  }
  // What was moved away, and what is excluded, is watched no longer once a scan has found that.
  renameSync(at('there'), at('here/there'));
  put('.cairnignore', 'back\nfolder/\n');
  await scanFiles({ ...replica, next: newRound() });
  await sleep(limits.clientQuietMs);
  changes.silence();
  for (const path of ['back', 'folder/x', 'folder/deep/new']) put(path, 'excluded\n');
  await sleep(limits.clientQuietMs);
  expect(changes.isRung).toBe(false);
  put('here/there/deep/new', 'moved\n');
  await changes.rung();
}, 120_000);

test('[SYN-26] a folder that a sync makes is no news, unless something else is in it, or it was away', async () => {
  const { root, folder, state } = keptFolder();
  const changes = new Bell();
  const saved: string[] = [];
  let last: Scan | undefined;
  const disk = diskOf(folder.root.path, changes, {
    keeper: { changed: (path) => void saved.push(path.slice(root.length + 1)) },
    seenOf: (path) => state.base.get(path as FolderPath)?.seen,
    knowsFolder: (path) => last?.folders.has(path) === true,
  });
  const onScan = (scan: Scan) => {
    last = scan;
    if (scan.looked === undefined) disk.endScan();
  };
  const onFolder = (path: string) => disk.visit(path);
  const replica = stepOf({ folder, state }, { onFolder, onScan, takeNoticed: () => disk.takeNoticed() });
  const step = { ...replica, next: newRound() };
  await scanFiles(step);
  /** Writes a file as a pull does. */
  const pulled = (path: FolderPath) => {
    const written = folder.put(path, Buffer.from(path), undefined, { modifiedMs: Date.now() - 3_600_000 });
    if (written === false || last === undefined) throw new Error(`${path} was not written`);
    state.agree(path, written);
    noteWritten(step, last, path);
  };
  for (const path of ['a/b/x', 'a/b/y', 'a/z', 'c/x']) pulled(path as FolderPath);
  await folder.settle();
  await sleep(limits.clientQuietMs);
  expect([changes.isRung, saved, disk.takeNoticed()]).toEqual([false, [], new Set()]);
  const noticed = new Set<string>();
  const isNoticed = (path: string) =>
    expect
      .poll(() => {
        for (const one of disk.takeNoticed()) noticed.add(one);
        return [changes.isRung, [...noticed]];
      })
      .toEqual([true, expect.arrayContaining([path])]);
  // Each folder is watched all the same.
  writeFileSync(join(root, 'a/b/own'), 'own');
  await isNoticed('a/b/own');
  // A program was quicker than the watch.
  pulled('d/x' as FolderPath);
  writeFileSync(join(root, 'd/own'), 'own');
  await isNoticed('d');
  expect(saved).toContain('d/own');
  expect(noticed).not.toContain('a');
  await sleep(limits.clientQuietMs);
  changes.silence();
  // A scan found that it was gone.
  renameSync(join(root, 'c'), `${root}-away`);
  await changes.rung();
  expect([...(await scanFiles(step)).files.keys()]).not.toContain('c/x');
  changes.silence();
  renameSync(`${root}-away`, join(root, 'c'));
  await changes.rung();
  expect([...(await scanFiles(step)).files.keys()]).toContain('c/x');
}, 120_000);

test('[SYN-25] what is written in the moment in which a folder is moved away makes no folder in its place', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-moved-'));
  onTestFinished(() => rmSync(`${root}-away`, { recursive: true }));
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  renameSync(root, `${root}-away`);
  const content = { bytes: Buffer.from('x'), sha256: 'a'.repeat(64), executable: false, modifiedMs: 0 };
  expect(() => folder.saves.keep('x' as FolderPath, content, '')).toThrow('ENOENT');
  expect(() => folder.asides.take('x' as FolderPath, join(root, 'x'), content.sha256)).toThrow('ENOENT');
  const locked = withFileLock(folder.own('sync'), () => Promise.resolve(), { makesFolder: false });
  await expect(locked).rejects.toThrow('ENOENT');
  expect(() => folder.makeOwn()).toThrow('was moved');
  expect(existsSync(root)).toBe(false);
});

test('[SYN-24] a lock that stayed in a folder which was away when the work ended does not stop the same process', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-lock-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const how = { makesFolder: false, waitMs: 1000 };
  await withFileLock(folder.own('sync'), () => Promise.resolve(renameSync(root, `${root}-away`)), how);
  renameSync(`${root}-away`, root);
  expect(existsSync(folder.own('sync.lock'))).toBe(true);
  const again = withFileLock(
    folder.own('sync'),
    async () => {
      // One that this process holds stays.
      await expect(withFileLock(folder.own('sync'), () => Promise.resolve(), how)).rejects.toThrow(
        'another cairn process',
      );
      return 'done';
    },
    how,
  );
  expect(await again).toBe('done');
});

test('[SYN-25] a file moved aside stays for its while, whatever the clock says', () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-aside-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  onTestFinished(() => void vi.useRealTimers());
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  writeFileSync(join(root, 'x'), 'x');
  expect(folder.remove('x' as FolderPath, sha256Of(Buffer.from('x')))).toBe(true);
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  for (const days of [-3, 3]) {
    vi.setSystemTime(Date.now() + days * 86_400_000);
    expect([folder.asides.sweep(), folder.asides.isEmpty]).toEqual([[], false]);
  }
  vi.advanceTimersByTime(limits.clientAsideMs);
  expect([folder.asides.sweep(), folder.asides.isEmpty]).toEqual([[], true]);
});

/** A map that moves a folder away while it is read. */
class MovesAway<K, V> extends Map<K, V> {
  root = '';

  override *[Symbol.iterator](): MapIterator<[K, V]> {
    renameSync(this.root, `${this.root}-away`);
    yield* super[Symbol.iterator]();
  }
}

test('[SYN-25] a state that is saved in the moment in which its folder is moved away makes no folder in its place', () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-state-'));
  onTestFinished(() => {
    for (const one of [root, `${root}-away`]) rmSync(one, { recursive: true, force: true });
  });
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const waits: ReturnType<typeof newState>['waits'] & { root?: string } = new MovesAway();
  waits.root = root;
  const state = { ...newState('http://127.0.0.1:1', 'v_0000000000000000'), waits };
  expect(() => writeState(folder, state)).toThrow('was moved');
  expect(existsSync(root)).toBe(false);
});
