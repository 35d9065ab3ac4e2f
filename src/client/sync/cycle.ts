/** One sync of a folder: pull, then push, again while the hub moves in between. One process at a time. */
import { join } from 'node:path';
import { limits } from '../../limits/service.ts';
import { withFileLock } from '../file-lock.ts';
import { pullChanges } from './pull.ts';
import { type PushOptions, pushChanges } from './push.ts';
import type { SyncSession } from './session.ts';
import { OWN_FOLDER } from './state.ts';

/** Which way a sync goes. */
export type Direction = 'pull' | 'both';

/** Syncs once. Throws ClientError; what was done until then is kept, and the next sync goes on from there. */
export async function syncOnce(session: SyncSession, direction: Direction, options: PushOptions): Promise<void> {
  await lockFolder(session.folder, async () => {
    for (let round = 0; round < limits.clientSyncRounds; round += 1) {
      await pullChanges(session, round === 0);
      if (direction === 'pull') return;
      if (!(await pushChanges(session, options))) return;
    }
  });
}

/** Runs work on a folder while no other process does. */
export async function lockFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  return await withFileLock(join(folder, OWN_FOLDER, 'sync'), work);
}
