/** Large files are hashed beside the scans of a watch: none waits for one, and none is forgotten. */
import { appendFileSync, chmodSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { scanFolder } from '../../../src/client/sync/scan/scan.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MiB = 2 ** 20;
const PATH = 'film.mp4' as FolderPath;
const GOES_ON = { signal: new AbortController().signal, onHashed: () => true };

function folderWithFilm() {
  const root = temporaryFolder();
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const absolute = join(root, PATH);
  writeFileSync(absolute, '');
  truncateSync(absolute, 11 * MiB);
  const age = () => utimesSync(absolute, 1e9, 1e9);
  age();
  const state = newState('http://127.0.0.1:1', 'v_0000000000000000');
  const scan = () => scanFolder(folder, state, { comesBack: true });
  return { folder, absolute, age, scan };
}

test('[SYN-39] a scan of a watch leaves a large file to be hashed beside it; the next one knows it', async () => {
  const { folder, scan } = folderWithFilm();
  const first = await scan();
  expect([...first.resting]).toEqual([PATH]);
  expect(first.files.has(PATH)).toBe(false);
  expect(first.leavesOut(PATH)).toBe(true);
  expect(folder.large.waiting).toBe(1);
  await folder.large.hashWanted(GOES_ON);
  expect(folder.large.waiting).toBe(0);
  const second = await scan();
  expect(second.files.get(PATH)?.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect([...second.resting, ...second.skipped.keys()]).toEqual([]);
});

test('[SYN-39] one that changes while it is hashed is looked at and hashed again', async () => {
  const { folder, absolute, age, scan } = folderWithFilm();
  await scan();
  let isHashed = false;
  const hashing = folder.large.hashWanted(GOES_ON).finally(() => {
    isHashed = true;
  });
  while (!isHashed) {
    appendFileSync(absolute, '.');
    age();
    await setImmediate();
  }
  await hashing;
  expect(folder.large.isRestless(absolute)).toBe(true);
  expect([...(await scan()).resting]).toEqual([PATH]);
  await folder.large.hashWanted(GOES_ON);
  expect((await scan()).files.get(PATH)?.seen.bytes).toBeGreaterThan(11 * MiB);
  expect(folder.large.isRestless(absolute)).toBe(false);
});

test('[SYN-39] hashing ends with the watch, and the file stays wanted by the next scan', async () => {
  const { folder, scan } = folderWithFilm();
  await scan();
  const ended = new AbortController();
  const hashing = folder.large.hashWanted({ ...GOES_ON, signal: ended.signal });
  ended.abort();
  await hashing;
  expect([...(await scan()).resting]).toEqual([PATH]);
  expect(folder.large.waiting).toBe(1);
});

test.skipIf(process.getuid?.() === 0)(
  '[SYN-39] a large file that cannot be read is listed, and comes back',
  async () => {
    const { folder, absolute, scan } = folderWithFilm();
    chmodSync(absolute, 0);
    await scan();
    await folder.large.hashWanted(GOES_ON);
    expect((await scan()).skipped.get(PATH)).toBe('It cannot be read (EACCES).');
    chmodSync(absolute, 0o644);
    await scan();
    await folder.large.hashWanted(GOES_ON);
    expect((await scan()).files.has(PATH)).toBe(true);
  },
);
