/** A synced folder of a test, what keeps its saves, and a watch of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { StateStore } from '../../../src/client/sync/base/store.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { Replica } from '../../../src/client/sync/replica.ts';
import { newRound, type SyncStep } from '../../../src/client/sync/round.ts';
import type { Bell } from '../../../src/client/sync/run/bell.ts';
import { DiskWatch } from '../../../src/client/sync/watch/disk.ts';
import { Keeper, type StartThread } from '../../../src/client/sync/watch/keeper.ts';
import { inThisThread } from './in-this-thread.ts';

/** A new folder, gone after the test. `cursor`: where an earlier sync ended. */
export function keptFolder(cursor: string | null = null) {
  const root = mkdtempSync(join(tmpdir(), 'cairn-kept-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  const state = new StateStore(folder, { ...newState('http://127.0.0.1:1', 'v_0000000000000000'), cursor });
  return { root, folder, state };
}

interface KeeperHears {
  readonly onLost?: (sentence: string) => unknown;
  readonly onReady?: () => unknown;
}

/** A keeper that is closed after the test. */
export function keeperOf(
  replica: Pick<Replica, 'folder' | 'state'>,
  { onLost, onReady }: KeeperHears = {},
  start: StartThread = inThisThread,
): Keeper {
  const hears = {
    isRestless: () => false,
    onLost: (sentence: string) => void onLost?.(sentence),
    onReady: () => void onReady?.(),
  };
  const keeper = new Keeper(replica, hears, start);
  onTestFinished(() => keeper.close());
  return keeper;
}

/** A sync of a folder; what is not given hears nothing, and nothing is noticed. */
export function stepOf(replica: Pick<Replica, 'folder' | 'state'>, hears: Partial<Replica['listener']>): SyncStep {
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
  return { ...replica, listener, tell: () => undefined, next: newRound() } as unknown as SyncStep;
}

type Disk = ConstructorParameters<typeof DiskWatch>;

/** A watch that takes every change for one of the user, until the test has finished. */
export function diskOf(root: string, changes: Bell, more: Partial<Disk[1]> = {}, system?: Disk[2]): DiskWatch {
  const disk = new DiskWatch(
    root,
    {
      changes,
      keeper: { changed: () => undefined },
      excludes: () => false,
      seenOf: () => undefined,
      knowsFolder: () => false,
      onBlind: () => undefined,
      ...more,
    },
    system,
  );
  onTestFinished(() => disk.close());
  return disk;
}
