/** Renames a local file or folder to a conflict copy: an ordinary file, which the next push sends to every device. */
import { limits } from '../../../limits/service.ts';
import { entryNameOf, type FolderPath } from '../folder/path.ts';
import { Unwritable } from '../folder/unwritable.ts';
import { conflictName, oldestCopies, originalOf } from '../plan/conflict-copy.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';

/** More copies of one name in one second than any program creates. */
const ATTEMPTS_MAX = 100;
export const NO_COPY = 'It cannot be renamed to a conflict copy.';

interface Keeping {
  /** Current path, relative to the folder. */
  readonly from: string;
  /** Path of the original file. */
  readonly of: FolderPath;
  /** Reason for the user; completes a sentence. */
  readonly why: string;
}

/** Renames the entry at `from` to a conflict copy. False, with a trouble for the user, when it cannot be renamed. */
export function keepCopy(step: SyncStep, { from, of, why }: Keeping): boolean {
  const { tell, next } = step;
  const name = entryNameOf(of) as FolderPath;
  let problem = NO_COPY;
  // When its own folder accepts no file, the copy goes to the top folder.
  for (const place of [of, name]) {
    try {
      const copy = renamedToCopy(step, from, place);
      if (copy === undefined) continue;
      tell({ verb: 'conflict', path: of, note: `kept as ${copy}: ${why}` });
      dropOldest(step, originalOf(copy) ?? of);
      return true;
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      problem = error.message;
    }
  }
  next.troubles.set(of, `${why}. ${problem}`);
  return false;
}

/** Renames the entry at `from` to a copy of a path. Returns the copy, undefined when no name is free. Throws Unwritable. */
export function renamedToCopy(
  { folder, state }: Pick<Replica, 'folder' | 'state'>,
  from: string,
  of: FolderPath,
): FolderPath | undefined {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const copy = conflictName(of, { device: state.device_id, nowMs: Date.now(), attempt });
    if (folder.rename(from, copy)) return copy;
  }
  return undefined;
}

/**
 * Removes the oldest copies of a file that has more than ten. Only those that the hub has: their bytes stay in its history, under
 * the name of the copy.
 */
function dropOldest({ folder, state, tell }: SyncStep, of: FolderPath): void {
  for (const path of oldestCopies(state.base.keys(), of, limits.clientCopiesMax - 1)) {
    const base = state.base.get(path);
    if (base === undefined || state.waits.has(path)) continue;
    try {
      // An edit of it stays: it has other bytes.
      if (!folder.remove(path, base.sha256)) continue;
    } catch (error) {
      if (error instanceof Unwritable) continue;
      throw error;
    }
    tell({
      verb: 'removed',
      path,
      note: `the oldest of more than ${limits.clientCopiesMax} copies; its history has it`,
    });
  }
}

/** Finds files written by a program after they were replaced or removed here, and keeps them as conflict copies. */
export async function keepLateWrites(step: SyncStep): Promise<void> {
  const { folder, hub } = step;
  for (const { path, place, sha256, drop } of folder.asides.sweep()) {
    const isSafe = sha256 !== undefined && (await hub.hasVersion(path, sha256));
    const why = 'a program wrote to it while it was replaced';
    if (isSafe || keepCopy(step, { from: place, of: path, why })) drop();
  }
}
