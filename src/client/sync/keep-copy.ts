/** Owns how a file or folder here becomes a conflict copy: an ordinary file, which the next push brings to every device. */
import { conflictName } from './conflict-copy.ts';
import { type SyncedFolder, Unwritable } from './folder/folder.ts';
import type { FolderPath } from './folder/path.ts';
import type { VaultHub } from './hub.ts';
import type { SyncState } from './state.ts';

/** More copies of one name in one second than anything makes. */
const ATTEMPTS_MAX = 100;

/** The parts of a sync that a copy needs. */
interface Place {
  readonly folder: SyncedFolder;
  readonly state: Pick<SyncState, 'device_id'>;
  readonly tell: (event: { readonly verb: 'conflict'; readonly path: string; readonly note: string }) => void;
  /** What is wrong with single paths, each with its reason. */
  readonly troubles: Map<string, string>;
}

interface Keeping {
  /** Where it is now, relative to the folder. */
  readonly from: string;
  /** Whose copy it is. */
  readonly of: FolderPath;
  /** Why, for the user; it ends a sentence. */
  readonly why: string;
}

/** Gives what is at `from` the name of a conflict copy. False, with a trouble for the user: it cannot be renamed. */
export function keepCopy({ folder, state, tell, troubles }: Place, { from, of, why }: Keeping): boolean {
  const name = of.slice(of.lastIndexOf('/') + 1) as FolderPath;
  let problem = 'It cannot be renamed to a conflict copy.';
  // Where its own folder takes no file, the copy goes to the top.
  for (const place of [of, name]) {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
        const copy = conflictName(place, { device: state.device_id, nowMs: Date.now(), attempt });
        if (!folder.rename(from, copy)) continue;
        tell({ verb: 'conflict', path: of, note: `kept as ${copy}: ${why}` });
        return true;
      }
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      problem = error.message;
    }
  }
  troubles.set(of, `${why}. ${problem}`);
  return false;
}

/** Finds files that a program wrote to after they were replaced or removed here, and keeps those bytes as conflict copies. */
export async function keepStrays(session: Place & { readonly hub: VaultHub }): Promise<void> {
  const { folder, hub } = session;
  for (const { path, place, sha256, drop } of folder.asides.sweep()) {
    const isSafe = await hub.hasVersion(path, sha256);
    const why = 'a program wrote to it while it was replaced';
    if (isSafe || keepCopy(session, { from: place, of: path, why })) drop();
  }
}
