/** The bounds of what the thread keeps: folders that are let in again, very many files at once, and no thread at all. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { StateStore } from '../../../src/client/sync/base/store.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { Replica } from '../../../src/client/sync/replica.ts';
import { newRound } from '../../../src/client/sync/round.ts';
import { Bell } from '../../../src/client/sync/run/bell.ts';
import { scanFiles } from '../../../src/client/sync/run/scan-files.ts';
import { Keeper, type StartThread } from '../../../src/client/sync/watch/keeper.ts';
import { limits } from '../../../src/limits/service.ts';
import { inThisThread } from './in-this-thread.ts';

function replicaOf(folder: SyncedFolder, state: StateStore, hears: Partial<Replica['listener']>): Replica {
  const listener = {
    onFolder: () => undefined,
    onScan: () => undefined,
    takeNoticed: () => 'all' as const,
    isScanDue: () => false,
    isMissing: () => false,
    isOverdue: () => false,
    onWritten: () => undefined,
    ...hears,
  };
  return { folder, state, listener, tell: () => undefined } as unknown as Replica;
}

test('[SYN-25] saves in folders that changed rules let in again are kept, also while the loop of the watch is busy', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-let-in-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'out/deep'), { recursive: true });
  writeFileSync(join(root, '.cairnignore'), 'out\n');
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const state = new StateStore(folder, newState('http://127.0.0.1:1', 'v_0000000000000000'));
  const ready = new Bell();
  const keeper = new Keeper(
    { folder, state },
    { isRestless: () => false, onLost: () => undefined, onReady: () => ready.ring() },
    inThisThread,
  );
  onTestFinished(() => keeper.close());
  await scanFiles({ ...replicaOf(folder, state, { onScan: (scan) => keeper.noteScan(scan) }), next: newRound() });
  await ready.rung();
  // Nobody scans from here on.
  for (const change of ['edited', 'removed']) {
    if (change === 'edited') writeFileSync(join(root, '.cairnignore'), 'out/deep\n');
    else rmSync(join(root, '.cairnignore'));
    const path = change === 'edited' ? 'out/x' : 'out/deep/x';
    await sleep(limits.clientStillMs);
    writeFileSync(join(root, path), change);
    const kept = () => folder.saves.list().map((save) => save.path);
    await vi.waitFor(() => expect(kept()).toContain(path), { timeout: 10_000 });
  }
}, 30_000);

test('[SYN-25] a save among more files than are looked at at once is kept: the last ones as soon as there is room, the others with the next scan', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-among-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const state = new StateStore(folder, { ...newState('http://127.0.0.1:1', 'v_0000000000000000'), cursor: '7' });
  const behind = new Bell();
  const start: StartThread = (data, { message, failed }) =>
    inThisThread(data, {
      failed,
      message: (one) => {
        message(one);
        if (one.type === 'behind') behind.ring();
      },
    });
  const keeper = new Keeper(
    { folder, state },
    { isRestless: () => false, onLost: () => undefined, onReady: () => undefined },
    start,
  );
  onTestFinished(() => keeper.close());
  const replica = replicaOf(folder, state, { onScan: (scan) => keeper.noteScan(scan) });
  await scanFiles({ ...replica, next: newRound() });
  const kept = () => folder.saves.list().map(({ path }) => path as string);
  for (let at = 0; at < 2 * limits.clientPushFiles; at += 1) {
    writeFileSync(join(root, `${at}`), `${at}`);
    keeper.changed(join(root, `${at}`));
  }
  const all = Array.from({ length: 2 * limits.clientPushFiles }, (_, at) => `${at}`);
  const missing = () => all.filter((path) => !kept().includes(path)).length;
  await vi.waitFor(() => expect(missing()).toBe(0), { timeout: 20_000, interval: 500 });
  for (const save of folder.saves.list()) save.drop();
  // More than that: some wait for the loop.
  for (let at = 0; at < 3 * limits.clientPushFiles; at += 1) {
    writeFileSync(join(root, `${at}`), `${at} again`);
    keeper.changed(join(root, `${at}`));
  }
  await behind.rung();
  const first = kept().length;
  await scanFiles({ ...replica, next: newRound() });
  await vi.waitFor(() => expect(kept().length).toBeGreaterThan(first), { timeout: 20_000, interval: 500 });
}, 60_000);

test('[SYN-25] a watch is ready once its folder was scanned, also where no thread keeps saves', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-without-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const state = new StateStore(folder, newState('http://127.0.0.1:1', 'v_0000000000000000'));
  const told: string[] = [];
  const keeper = new Keeper(
    { folder, state },
    { isRestless: () => false, onLost: (sentence) => told.push(sentence), onReady: () => told.push('ready') },
    (_, { failed }) => {
      setImmediate(failed, new Error('it has no memory'));
      return { send: () => undefined, close: () => Promise.resolve() };
    },
  );
  onTestFinished(() => keeper.close());
  await scanFiles({ ...replicaOf(folder, state, { onScan: (scan) => keeper.noteScan(scan) }), next: newRound() });
  await vi.waitFor(() => expect(told).toHaveLength(2));
  expect(told).toEqual([
    'Saves in quick succession are not kept now (it has no memory). Trying again in 60 s.',
    'ready',
  ]);
});
