/** Scans: a file is read again only when it may have changed. */
import { mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { readState } from '../../../src/client/sync/base/state-file.ts';
import { StateStore } from '../../../src/client/sync/base/store.ts';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { RootGone } from '../../../src/client/sync/folder/root.ts';
import type { Replica } from '../../../src/client/sync/replica.ts';
import { newRound, type SyncStep } from '../../../src/client/sync/round.ts';
import { scanFiles } from '../../../src/client/sync/run/scan-files.ts';
import { type Scan, scanFolder } from '../../../src/client/sync/scan/scan.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const BYTES = 1 << 20;

/** A folder on a disk whose clock goes on when the test says so. */
class FolderInTime extends SyncedFolder {
  laterMs = 0;

  override timeMs(): number {
    return super.timeMs() + this.laterMs;
  }
}

/** Bytes that this process has read from files so far (proc(5)). */
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

test.each([0, -3, 3])(
  '[SYN-24] a file that was written by a sync is read once more and not by each scan, with a clock %i days off',
  async (days) => {
    const root = temporaryFolder();
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 });
    mkdirSync(join(root, 'deep'));
    const folder = new FolderInTime(root);
    folder.makeOwn();
    const state = new StateStore(folder, newState('http://127.0.0.1:1', 'v_0000000000000000'));
    const replica = { folder, state, tell: () => undefined } as unknown as Replica;
    const path = 'deep/x' as FolderPath;
    const written = folder.put(path, Buffer.alloc(BYTES), undefined);
    if (written === false) throw new Error('the file is not new');
    state.agree(path, written);
    const isRead = async () => {
      const before = bytesRead();
      const { sha256 } = (await scanFiles({ ...replica, next: newRound() })).files.get(path) ?? {};
      return { sha256, isRead: bytesRead() - before >= BYTES };
    };
    const { sha256 } = written;
    // It may change again within the resolution of the disk's clock.
    expect(await isRead()).toEqual({ sha256, isRead: true });
    folder.laterMs = 2500;
    expect(await isRead()).toEqual({ sha256, isRead: true });
    for (let round = 0; round < 2; round += 1) expect(await isRead()).toEqual({ sha256, isRead: false });
    writeFileSync(join(root, path), Buffer.alloc(BYTES, 1));
    expect(await isRead()).toEqual({ sha256: expect.not.stringMatching(sha256), isRead: true });
  },
);

const PLACED = 20;
/** When the files of the hub were written, elsewhere: in seconds, a double holds it exactly. */
const LONG_AGO_MS = 1_700_000_000_125;

/** A folder with files that a sync has placed, after which its process ended. */
async function placed(modifiedMs: number) {
  const root = temporaryFolder();
  const before = new SyncedFolder(root);
  before.makeOwn();
  const state = new StateStore(before, newState('http://127.0.0.1:1', 'v_0000000000000000'));
  const paths = Array.from({ length: PLACED }, (_, index) => `deep/${index}` as FolderPath);
  for (const path of paths) {
    const written = before.put(path, Buffer.alloc(BYTES), undefined, { modifiedMs });
    if (written === false) throw new Error('the file is not new');
    state.agree(path, written);
  }
  await state.save();
  const scanned = async () => {
    const known = readState(root);
    if (known === undefined) throw new Error('nothing is stored');
    const readBefore = bytesRead();
    const { files } = await scanFolder(new SyncedFolder(root), known);
    const differ = paths.filter((path) => files.get(path)?.sha256 !== known.base.get(path)?.sha256);
    return { read: Math.floor((bytesRead() - readBefore) / BYTES), differ };
  };
  return { root, paths, scanned };
}

test('[SYN-26] files that a sync placed are not read by the scan of the next process', async () => {
  const { scanned } = await placed(LONG_AGO_MS);
  expect(await scanned()).toEqual({ read: 0, differ: [] });
});

test('[SYN-24] of placed files, those are read that may have changed: written since with any time, or as new as their placing', async () => {
  const { root, paths, scanned } = await placed(LONG_AGO_MS);
  const [written = '', backdated = '', touched = ''] = paths;
  for (const path of [written, backdated]) writeFileSync(join(root, path), Buffer.alloc(BYTES, 1));
  for (const path of [backdated, touched]) utimesSync(join(root, path), LONG_AGO_MS / 1000, LONG_AGO_MS / 1000);
  expect(await scanned()).toEqual({ read: 3, differ: [written, backdated] });
  expect(await (await placed(Date.now())).scanned()).toEqual({ read: PLACED, differ: [] });
});

const FOLDERS = 40;
/** Longer than a scan goes on without a pause. */
const TURN_MS = 25;

interface Told {
  isDue: boolean;
  isMissing: boolean;
  onVisit: (() => void) | undefined;
}

/** A watched folder of which everything is due to be scanned again, slowly. */
async function due() {
  const root = temporaryFolder();
  for (let index = 0; index < FOLDERS; index += 1) {
    mkdirSync(join(root, `${index}`));
    writeFileSync(join(root, `${index}/x`), '1');
  }
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const state = new StateStore(folder, newState('http://127.0.0.1:1', 'v_0000000000000000'));
  const visited: string[] = [];
  const saved = new Set<string>();
  const told: Told = { isDue: false, isMissing: false, onVisit: undefined };
  const save = (path: string) => {
    writeFileSync(join(root, path), 'saved');
    saved.add(path);
  };
  const listener = {
    onFolder(path: string) {
      if (!told.isDue) return;
      visited.push(path);
      told.onVisit?.();
      for (const endMs = performance.now() + TURN_MS; performance.now() < endMs; );
    },
    onScan: (found: Scan) => {
      if (found.looked === undefined) told.isDue = false;
    },
    isScanDue: () => told.isDue,
    isMissing: () => told.isMissing,
    isOverdue: () => saved.size > 0,
    takeNoticed() {
      const paths = new Set(saved);
      saved.clear();
      return told.isMissing ? ('all' as const) : paths;
    },
  };
  const step = { folder, state, tell: () => undefined, listener, next: newRound() } as unknown as SyncStep;
  const scans = async (goesOn: boolean) => {
    const found = await scanFiles(step, { goesOn });
    const hash = (path: string) => found.files.get(path as FolderPath)?.sha256;
    return { looked: found.looked && [...found.looked], hash, files: found.files.size };
  };
  await scans(true);
  told.isDue = true;
  return { step, visited, told, save, scans, folder, state };
}

const SAVED = sha256Of(Buffer.from('saved'));

test('[SYN-26] a file saved while everything is scanned is found before the scan ends, and the scan goes on where it was', async () => {
  const { step, visited, told, save, scans } = await due();
  // In a folder that was passed, and in the last one.
  told.onVisit = () => {
    if (visited.length === 3) for (const path of [`${visited[1]}/x`, '0/x']) save(path);
  };
  const part = await scans(true);
  const [, passed = ''] = visited;
  expect([part.looked?.sort(), part.hash(`${passed}/x`), part.hash('0/x')]).toEqual([
    ['0/x', `${passed}/x`].sort(),
    SAVED,
    SAVED,
  ]);
  const visitedThen = visited.length;
  expect(visitedThen).toBeLessThan(FOLDERS);
  // The steps of the sync that sends it.
  expect([(await scans(false)).looked, visited.length, step.next.fullScan]).toEqual([
    [],
    visitedThen,
    expect.anything(),
  ]);
  const all = await scans(true);
  expect(all).toMatchObject({ looked: undefined, files: FOLDERS });
  expect([all.hash(`${passed}/x`), all.hash('0/x'), step.next.fullScan]).toEqual([SAVED, SAVED, undefined]);
  // Each once, the root with them.
  expect([visited.length, new Set(visited).size]).toEqual([FOLDERS + 1, FOLDERS + 1]);
});

test('[SYN-26] what is saved before a scan of everything comes first; that goes on while a program saves without end', async () => {
  const { visited, told, save, scans } = await due();
  save('1/x');
  expect([(await scans(true)).looked, visited]).toEqual([['1/x'], []]);
  let rounds = 0;
  for (; told.isDue; rounds += 1) {
    save('1/x');
    const before = visited.length;
    await scans(true);
    // A round that found every folder visited ends the scan.
    expect([visited.length > before, told.isDue]).not.toEqual([false, true]);
  }
  expect([visited.length, rounds > 1]).toEqual([FOLDERS + 1, true]);
});

test('[SYN-26] while reports are missing, a scan of everything is not left', async () => {
  const { visited, told, save, scans } = await due();
  told.onVisit = () => {
    if (visited.length !== 3) return;
    told.isMissing = true;
    save('0/x');
  };
  expect(await scans(true)).toMatchObject({ looked: undefined, files: FOLDERS });
  expect(visited.length).toBe(FOLDERS + 1);
});

test('[SYN-28] a folder that is moved away during a scan and is back at its end has no deleted files', async () => {
  const root = join(temporaryFolder(), 'folder');
  const away = `${root} away`;
  for (const name of ['a', 'b', 'c', 'd']) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, 'x'), name);
  }
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const known = newState('http://127.0.0.1:1', 'v_0000000000000000');
  expect((await scanFolder(folder, known)).files.size).toBe(4);
  const moves = [() => undefined, () => undefined, () => renameSync(root, away), () => renameSync(away, root)];
  const onFolder = () => moves.shift()?.();
  await expect(scanFolder(folder, known, { onFolder })).rejects.toThrow(RootGone);
});
