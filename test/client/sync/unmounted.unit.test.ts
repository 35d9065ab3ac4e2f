/**
 * The synced folder is a filesystem of its own, which is unmounted and mounted again. Mounting needs root, so what inotify(7) does
 * is replayed: its watches end, and the last report names the folder itself. What is watched then is watched by the system.
 */
import { renameSync, watch as watchHere, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { Root } from '../../../src/client/sync/folder/root.ts';
import { Bell } from '../../../src/client/sync/run/bell.ts';
import type { System } from '../../../src/client/sync/watch/folder-watches.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { diskOf } from './kept-folder.ts';

test.runIf(process.platform === 'linux').each([
  ['before that is reported', false],
  ['after a scan has looked for it', true],
])('[SYN-26] a folder that was unmounted and is back %s is watched at its top', async (_, isScannedAway) => {
  const root = Root.at(temporaryFolder()).path;
  const unmounts: (() => void)[] = [];
  const watch: System['watch'] = (folder, how) => {
    const watcher = watchHere(folder, how);
    unmounts.push(() => {
      watcher.close();
      watcher.emit('change', 'rename', basename(folder));
    });
    return watcher;
  };
  const changes = new Bell();
  const disk = diskOf(root, changes, {}, { platform: process.platform, watch });
  const scan = () => {
    disk.visit('');
    disk.endScan();
  };
  scan();
  if (isScannedAway) renameSync(root, `${root}-away`);
  for (const unmount of unmounts.splice(0)) unmount();
  if (isScannedAway) {
    scan();
    renameSync(`${root}-away`, root);
  }
  scan();
  expect(disk.takeNoticed()).toBe('all');
  changes.silence();
  writeFileSync(join(root, 'top'), 'saved');
  await changes.rung();
  expect(disk.takeNoticed()).toEqual(new Set(['top']));
});
