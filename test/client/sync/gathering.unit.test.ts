/** What the thread that keeps saves hears of files that a sync writes beside it. */
import { lstatSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { seenOf } from '../../../src/client/sync/folder/file.ts';
import { DiskWatch } from '../../../src/client/sync/watch/disk.ts';
import { Gathering } from '../../../src/client/sync/watch/gathering.ts';
import { WrittenFiles } from '../../../src/client/sync/watch/written.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('[SYN-26] a file that a sync writes is none of the user’s, although the system reports it first; an edit of it is one', async () => {
  const root = temporaryFolder();
  const at = (name: string) => join(root, name);
  const own = new WrittenFiles();
  const [changed, hears]: [string[], ((event: string, name: string) => void)[]] = [[], []];
  const watch = () => ({
    close: () => undefined,
    on(kind: string, heard: (event: string, name: string) => void) {
      if (kind === 'change') hears.push(heard);
    },
  });
  const listeners = {
    changes: { ring: () => undefined },
    keeper: { changed: (path: string) => changed.push(path.slice(root.length + 1)) },
    excludes: () => false,
    seenOf: () => undefined,
    isOwn: own.has.bind(own),
    gather: { ms: 20, isThere: () => true },
    knowsFolder: () => false,
    onBlind: () => undefined,
  };
  const system = { platform: 'linux', watch } as unknown as ConstructorParameters<typeof DiskWatch>[2];
  const disk = new DiskWatch(root, listeners as unknown as ConstructorParameters<typeof DiskWatch>[1], system);
  onTestFinished(() => disk.close());
  const report = (name: string) => hears[0]?.('rename', name);
  const note = (name: string) => own.note(seenOf(lstatSync(at(name)), 0));
  for (const name of ['placed', 'edited', 'saved']) {
    writeFileSync(at(name), name);
    report(name);
  }
  for (const name of ['placed', 'edited']) note(name);
  // Within the resolution of the disk’s clock, the time of a change would be the same. Nothing is handed on meanwhile.
  const { ctimeMs } = lstatSync(at('edited'));
  while (lstatSync(at('edited')).ctimeMs === ctimeMs) writeFileSync(at('edited'), 'by a person');
  report('edited');
  await expect.poll(() => changed).toHaveLength(2);
  expect(changed.toSorted()).toEqual(['edited', 'saved']);
});

test('[SYN-25] reports are handed on together, each once and in their order, and not while the folder is away', async () => {
  const handed: string[] = [];
  let isThere = true;
  const gathering = new Gathering(
    10,
    (...report) => handed.push(report.join(' ')),
    () => isThere,
  );
  onTestFinished(() => gathering.end());
  for (const [event, name] of [
    ['rename', 'a'],
    ['change', 'a'],
    ['change', 'a'],
    ['rename', 'b'],
    ['change', 'a'],
  ] as const)
    gathering.add('folder', event, name);
  expect(handed).toEqual([]);
  await expect.poll(() => handed).toHaveLength(3);
  expect(handed).toEqual(['folder rename a', 'folder change a', 'folder rename b']);
  gathering.add('folder', 'change', 'a');
  await expect.poll(() => handed).toHaveLength(4);
  isThere = false;
  gathering.add('folder', 'change', 'b');
  await sleep(100);
  expect(handed).toHaveLength(4);
  isThere = true;
  await expect.poll(() => handed).toHaveLength(5);
});

test('[SYN-25] a save right after a sync wrote the file is the user’s, also within the resolution of the disk’s clock', () => {
  const path = join(temporaryFolder(), 'x');
  writeFileSync(path, 'pulled');
  utimesSync(path, 1000, 1000);
  const pulled = lstatSync(path);
  const own = new WrittenFiles();
  own.note(seenOf(pulled, 0));
  writeFileSync(path, 'saved');
  const { ino, mtimeMs } = lstatSync(path);
  expect([own.has(pulled), own.has({ ino, mtimeMs, ctimeMs: pulled.ctimeMs })]).toEqual([true, false]);
});
