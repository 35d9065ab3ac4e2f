/** The bounds of what the thread keeps: folders that are let in again, very many files at once, and no thread at all. */
import { type FSWatcher, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newRound } from '../../../src/client/sync/round.ts';
import { Bell } from '../../../src/client/sync/run/bell.ts';
import { scanFiles } from '../../../src/client/sync/run/scan-files.ts';
import { type System, THIS_SYSTEM } from '../../../src/client/sync/watch/folder-watches.ts';
import { keepSaves } from '../../../src/client/sync/watch/keep.ts';
import type { StartThread } from '../../../src/client/sync/watch/keeper.ts';
import type { FromKeeper } from '../../../src/client/sync/watch/keeper-messages.ts';
import { WrittenFiles } from '../../../src/client/sync/watch/written.ts';
import { limits } from '../../../src/limits/service.ts';
import { inThisThread } from './in-this-thread.ts';
import { keeperOf, keptFolder, stepOf } from './kept-folder.ts';

/** A thread that rings when it tells this. */
const telling =
  (type: FromKeeper['type'], bell: Bell): StartThread =>
  (data, { message, failed }) =>
    inThisThread(data, {
      failed,
      message: (one) => {
        message(one);
        if (one.type === type) bell.ring();
      },
    });

/** Thousands of files, each with a copy and a note: a busy disk takes minutes. */
const PATIENTLY = { interval: 500, timeout: 120_000 };

test('[SYN-25] saves in folders that changed rules let in again are kept, also while the loop of the watch is busy', async () => {
  const { root, folder, state } = keptFolder();
  mkdirSync(join(root, 'out/deep'), { recursive: true });
  writeFileSync(join(root, '.cairnignore'), 'out\n');
  const ready = new Bell();
  const keeper = keeperOf({ folder, state }, { onReady: () => ready.ring() });
  await scanFiles(stepOf({ folder, state }, { onScan: (scan) => keeper.noteScan(scan) }));
  await ready.rung();
  // Nobody scans from here on.
  for (const change of ['edited', 'removed']) {
    if (change === 'edited') writeFileSync(join(root, '.cairnignore'), 'out/deep\n');
    else rmSync(join(root, '.cairnignore'));
    const path = change === 'edited' ? 'out/x' : 'out/deep/x';
    await sleep(limits.clientStillMs);
    writeFileSync(join(root, path), change);
    const kept = () => folder.saves.list().map((save) => save.path);
    await expect.poll(kept).toContain(path);
  }
});

test('[SYN-25] a save from right before the thread watched its folder is kept, when the loop hears of it later', async () => {
  const { root, folder, state } = keptFolder('7');
  const ready = new Bell();
  writeFileSync(join(root, 'x'), 'saved while the thread began\n');
  const keeper = keeperOf({ folder, state }, {}, telling('ready', ready));
  await ready.rung();
  // The loop was busy until now, and its scan had read the file before.
  keeper.changed(join(root, 'x'));
  await expect.poll(() => folder.saves.list().map(({ path }) => path as string)).toEqual(['x']);
  expect(folder.saves.list()[0]?.read()?.bytes.toString()).toBe('saved while the thread began\n');
});

test('[SYN-25] a late report of the loop puts off no look at a save of which the thread has heard', () => {
  const { root } = keptFolder();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: string[] = [];
  const data = { root, only: [], written: new WrittenFiles().shared };
  const keeps = keepSaves(data, (message) => message.type === 'asked' && asked.push(message.path));
  onTestFinished(() => keeps.hear({ type: 'close' }));
  writeFileSync(join(root, 'x'), 'saved');
  keeps.hear({ type: 'changed', path: 'x' });
  vi.advanceTimersByTime(limits.clientStillMs - 1);
  keeps.hear({ type: 'changed', path: 'x', isLate: true });
  expect(asked).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(asked).toEqual(['x']);
  // What was looked at is looked at again: it may have changed before the thread watched.
  keeps.hear({ type: 'changed', path: 'x', isLate: true });
  vi.advanceTimersByTime(limits.clientStillMs);
  expect(asked).toEqual(['x', 'x']);
});

test('[SYN-25] a save among more files than are looked at at once is kept: the last ones as soon as there is room, the others with the next scan', async () => {
  const { root, folder, state } = keptFolder('7');
  const behind = new Bell();
  const keeper = keeperOf({ folder, state }, {}, telling('behind', behind));
  const replica = stepOf({ folder, state }, { onScan: (scan) => keeper.noteScan(scan) });
  await scanFiles({ ...replica, next: newRound() });
  const kept = () => folder.saves.list().map(({ path }) => path as string);
  for (let at = 0; at < 2 * limits.clientPushFiles; at += 1) {
    writeFileSync(join(root, `${at}`), `${at}`);
    keeper.changed(join(root, `${at}`));
  }
  const all = Array.from({ length: 2 * limits.clientPushFiles }, (_, at) => `${at}`);
  // Each look reads the folder of the copies.
  const missing = () => {
    const found = new Set(kept());
    return all.filter((path) => !found.has(path)).length;
  };
  await expect.poll(missing, PATIENTLY).toBe(0);
  for (const save of folder.saves.list()) save.drop();
  // More than that: some wait for the loop.
  for (let at = 0; at < 3 * limits.clientPushFiles; at += 1) {
    writeFileSync(join(root, `${at}`), `${at} again`);
    keeper.changed(join(root, `${at}`));
  }
  await behind.rung();
  const first = kept().length;
  await scanFiles({ ...replica, next: newRound() });
  await expect.poll(() => kept().length, PATIENTLY).toBeGreaterThan(first);
}, 400_000);

test('[SYN-25] a watch is ready once its folder was scanned, also where no thread keeps saves', async () => {
  const { folder, state } = keptFolder();
  const told: string[] = [];
  const keeper = keeperOf(
    { folder, state },
    { onLost: (sentence) => told.push(sentence), onReady: () => told.push('ready') },
    (_, { failed }) => {
      setImmediate(failed, new Error('it has no memory'));
      return { send: () => undefined, close: () => Promise.resolve() };
    },
  );
  await scanFiles(stepOf({ folder, state }, { onScan: (scan) => keeper.noteScan(scan) }));
  await expect.poll(() => told).toHaveLength(2);
  expect(told).toEqual([
    'Saves in quick succession are not kept now (it has no memory). Trying again in 60 s.',
    'ready',
  ]);
});

test('[SYN-25] very many reports at once cost the thread one walk of the folder, not one each', async () => {
  const { root } = keptFolder();
  const walks: unknown[] = [];
  const watchers: FSWatcher[] = [];
  const watch: System['watch'] = (path, how) => {
    const watcher = THIS_SYSTEM.watch(path, how) as FSWatcher;
    watchers.push(watcher);
    return watcher;
  };
  const data = { root, only: [], written: new WrittenFiles().shared };
  const keeps = keepSaves(data, (message) => message.type === 'ready' && walks.push(message), {
    ...THIS_SYSTEM,
    watch,
  });
  onTestFinished(() => keeps.hear({ type: 'close' }));
  await expect.poll(() => walks).toHaveLength(1);
  for (let at = 0; at < limits.clientNoticedMax + 100; at += 1) watchers[0]?.emit('change', 'rename', `gone ${at}`);
  await expect.poll(() => walks.length).toBeGreaterThan(1);
  await sleep(limits.clientBusyMs);
  expect(walks.length).toBeLessThanOrEqual(3);
});
