/**
 * What macOS and Windows report, replayed over the same changes of a disk: the watch finds all of them. The streams follow the
 * documentation of both systems and how Node.js passes their events on; none was taken on such a machine.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import { Bell } from '../../../src/client/sync/run/bell.ts';
import { rescanPaths, scanFolder } from '../../../src/client/sync/scan/scan.ts';
import { DiskWatch } from '../../../src/client/sync/watch/disk.ts';
import { reportedPath } from '../../../src/client/sync/watch/reports.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const state = newState('http://127.0.0.1:1', 'v_0000000000000000');

type Report = readonly [event: 'rename' | 'change', name: string | null];

interface Disk {
  readonly put: (path: string, text?: string) => void;
  readonly move: (from: string, to: string) => void;
  readonly remove: (path: string) => void;
}

/** A watched folder with `a.md`, `notes/b.md` and `notes/deep/c.md`, on a system whose reports are replayed. */
async function watched(platform: string) {
  const root = temporaryFolder();
  const at = (path: string) => join(root, path);
  const disk: Disk = {
    put(path, text = path) {
      mkdirSync(join(at(path), '..'), { recursive: true });
      writeFileSync(at(path), text);
    },
    move: (from, to) => renameSync(at(from), at(to)),
    remove: (path) => rmSync(at(path), { recursive: true }),
  };
  for (const path of ['a.md', 'notes/b.md', 'notes/deep/c.md']) disk.put(path);
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  folder.hideFromGit();
  const watches: string[] = [];
  const hears: ((event: string, name: string | null) => void)[] = [];
  const watch = (path: string) => {
    watches.push(path);
    return {
      close: () => undefined,
      on(kind: string, heard: (event: string, name: string | null) => void) {
        if (kind === 'change') hears.push(heard);
      },
    };
  };
  const saved: string[] = [];
  const changes = new Bell();
  const listeners = {
    changes,
    keeper: { changed: (path: string) => saved.push(path.slice(root.length + 1)) },
    excludes: () => false,
    seenOf: () => undefined,
    knowsFolder: () => false,
    onBlind: () => undefined,
  };
  const noticing = new DiskWatch(
    folder.root.path,
    listeners as unknown as ConstructorParameters<typeof DiskWatch>[1],
    { platform, watch } as unknown as ConstructorParameters<typeof DiskWatch>[2],
  );
  const scan = async () => {
    const found = await scanFolder(folder, state, { onFolder: (path) => noticing.visit(path) });
    noticing.endScan();
    return found;
  };
  noticing.takeNoticed();
  const before = await scan();
  // Rules that were just read are read again by a scan of everything.
  const settled = { ...before, rules: { ...before.rules, stamp: '[null,null,null]' } };
  return { folder, disk, noticing, before: settled, changes, saved, watches, root, report: hears[0] };
}

const filesOf = ({ files }: { readonly files: ReadonlyMap<string, { readonly sha256: string }> }) =>
  [...files].map(([path, { sha256 }]) => `${path} ${sha256}`).sort();

interface Stream {
  readonly title: string;
  readonly changes: (disk: Disk) => void;
  readonly darwin: readonly Report[];
  readonly win32: readonly Report[];
  /** Saves that are kept in case the sync is too slow. */
  readonly saved?: readonly string[];
}

const streams: readonly Stream[] = [
  {
    title: 'a save in place',
    changes: ({ put }) => put('notes/b.md', 'edited'),
    darwin: [['change', 'notes/b.md']],
    win32: [
      ['change', 'notes\\b.md'],
      ['change', 'notes\\b.md'],
      ['change', 'notes'],
    ],
    saved: ['notes/b.md'],
  },
  {
    title: 'a save by an editor that replaces the file',
    changes({ put, move }) {
      put('notes/.b.md.tmp', 'edited');
      move('notes/.b.md.tmp', 'notes/b.md');
    },
    darwin: [
      ['rename', 'notes/.b.md.tmp'],
      ['rename', 'notes/b.md'],
    ],
    win32: [
      ['rename', 'notes\\.b.md.tmp'],
      ['change', 'notes\\.b.md.tmp'],
      ['rename', 'notes\\b.md'],
      ['rename', 'notes\\.b.md.tmp'],
      ['rename', 'notes\\b.md'],
      ['change', 'notes'],
    ],
    saved: ['notes/b.md'],
  },
  {
    title: 'a new folder with folders',
    changes({ put }) {
      put('new/x.md');
      put('new/in/y.md');
    },
    darwin: [
      ['rename', 'new'],
      ['rename', 'new/in'],
      ['rename', 'new/in/y.md'],
      ['rename', 'new/x.md'],
    ],
    win32: [
      ['rename', 'new'],
      ['rename', 'new\\x.md'],
      ['change', 'new\\x.md'],
      ['rename', 'new\\in'],
      ['rename', 'new\\in\\y.md'],
      ['change', 'new\\in\\y.md'],
      ['change', 'new\\in'],
      ['change', 'new'],
    ],
    saved: ['new/in/y.md', 'new/x.md'],
  },
  {
    title: 'a folder that is renamed tells nothing of what is in it',
    changes: ({ move }) => move('notes', 'papers'),
    darwin: [
      ['rename', 'notes'],
      ['rename', 'papers'],
    ],
    win32: [
      ['rename', 'notes'],
      ['rename', 'papers'],
      ['change', 'papers'],
    ],
    saved: ['papers/b.md', 'papers/deep/c.md'],
  },
  {
    title: 'a folder that is removed',
    changes: ({ remove }) => remove('notes'),
    darwin: [
      ['rename', 'notes/deep/c.md'],
      ['rename', 'notes/deep'],
      ['rename', 'notes/b.md'],
      ['rename', 'notes'],
    ],
    // The last ones may not come at all: the folder is gone before they are read.
    win32: [
      ['change', 'notes'],
      ['rename', 'notes\\deep\\c.md'],
      ['rename', 'notes'],
    ],
  },
  {
    title: 'another case',
    changes: ({ move }) => move('a.md', 'A.md'),
    darwin: [
      ['rename', 'A.md'],
      ['rename', 'a.md'],
    ],
    win32: [
      ['rename', 'a.md'],
      ['rename', 'A.md'],
    ],
    saved: ['A.md'],
  },
  {
    title: 'a file that came and went at once',
    changes() {},
    darwin: [['rename', '~$b.docx']],
    win32: [
      ['rename', '~$b.docx'],
      ['rename', '~$b.docx'],
    ],
  },
];

describe.each(['darwin', 'win32'] as const)('on %s', (platform) => {
  test.each(streams)('[SYN-26] what is reported leads to what changed: $title', async (stream) => {
    const { folder, disk, noticing, before, changes, saved, report } = await watched(platform);
    stream.changes(disk);
    for (const [event, name] of stream[platform]) report?.(event, name);
    expect(changes.isRung).toBe(true);
    expect([...new Set(saved)].sort()).toEqual(stream.saved ?? []);
    const paths = noticing.takeNoticed();
    if (paths === 'all') throw new Error('nothing was lost, so not everything is scanned');
    const part = await rescanPaths(folder, state, { before, paths, onFolder: () => undefined });
    expect(part && filesOf(part)).toEqual(filesOf(await scanFolder(folder, state)));
    noticing.close();
  });

  test('[SYN-26] one watch covers all folders, and the own folder of Cairn wakes nobody', async () => {
    const { watches, root, report, changes, noticing } = await watched(platform);
    expect(watches).toEqual([root]);
    const own = platform === 'win32' ? '.cairn\\state.json' : '.cairn/state.json';
    for (const event of ['rename', 'change']) report?.(event, own);
    expect(changes.isRung).toBe(false);
    expect(noticing.takeNoticed()).toEqual(new Set());
  });

  test('[SYN-26] an entry that is called as the synced folder is an entry', async () => {
    const { watches, root, disk, report, noticing } = await watched(platform);
    disk.put(basename(root));
    report?.('rename', basename(root));
    expect(noticing.takeNoticed()).toEqual(new Set([basename(root)]));
    expect(watches).toEqual([root]);
  });

  test('[SYN-24] a folder below that begins to sync itself is found by a scan of everything', async () => {
    const { disk, report, noticing } = await watched(platform);
    disk.put('notes/.cairn/state.json');
    report?.('rename', platform === 'win32' ? 'notes\\.cairn' : 'notes/.cairn');
    expect(noticing.takeNoticed()).toBe('all');
  });
});

test.each<[platform: string, name: string | null, path: string | undefined]>([
  ['linux', 'a\\b', 'a\\b'],
  ['linux', 'NOTES~1', 'NOTES~1'],
  ['linux', null, ''],
  ['darwin', 'a/b~1.md', 'a/b~1.md'],
  ['win32', 'a\\b.md', 'a/b.md'],
  ['win32', 'draft~.md', 'draft~.md'],
  // Gone before their long names could be looked up.
  ['win32', 'NOTES~1\\B.MD', undefined],
  ['win32', 'notes\\LONGFI~2.TXT', undefined],
  // The buffer was too small.
  ['win32', null, undefined],
])('[SYN-26] on %s, %j is the path %j', (platform, name, path) => {
  expect(reportedPath(platform, name)).toBe(path);
});

test('[SYN-26] reports that Windows lost are made up for by a scan of everything', async () => {
  const { disk, report, noticing, changes } = await watched('win32');
  disk.put('notes/b.md', 'edited');
  report?.('change', null);
  expect([changes.isRung, noticing.takeNoticed()]).toEqual([true, 'all']);
  expect(noticing.takeNoticed()).toEqual(new Set());
});

test('[SYN-26] on Windows, a folder that only holds what changed is not scanned', async () => {
  const { report, noticing } = await watched('win32');
  report?.('change', 'notes\\b.md');
  report?.('change', 'notes');
  expect(noticing.takeNoticed()).toEqual(new Set(['notes/b.md']));
});
