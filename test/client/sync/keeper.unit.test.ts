/** Copies of saves: of files from before the watch, and while their folder is moved away. */
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withFileLock } from '../../../src/client/file-lock.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { type Replica, scan } from '../../../src/client/sync/replica.ts';
import { newState } from '../../../src/client/sync/state.ts';
import { writeState } from '../../../src/client/sync/state-file.ts';
import { Keeper } from '../../../src/client/sync/watch/keeper.ts';

test('[SYN-25] a file that was saved before the watch is kept once it stands still, and not again by later scans', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-keeper-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const state = newState('http://127.0.0.1:1', 'v_0000000000000000');
  const replica = { folder, state, tell: () => undefined } as unknown as Replica;
  const keeper = new Keeper(replica);
  onTestFinished(() => keeper.close());
  replica.onScan = () => keeper.noteScan();
  writeFileSync(join(root, 'x'), 'saved before\n');
  await scan(replica);
  await vi.waitFor(() => expect(folder.saves.list()).toHaveLength(1), { timeout: 10_000 });
  const [save] = folder.saves.list();
  expect(save?.read()?.bytes.toString()).toBe('saved before\n');
  // Sent: a scan that finds the same bytes again keeps no second copy.
  save?.drop();
  await scan(replica);
  await expect(vi.waitFor(() => expect(folder.saves.list()).toHaveLength(1), { timeout: 2000 })).rejects.toThrow();
});

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
