/** Handles files damaged on the hub, which no pull brings: a local file stays, and an equal one repairs the hub. */
import { nextCommand, pathWord } from '../../next-command.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../folder/scan.ts';
import type { LeftOut } from '../remote-record.ts';
import type { Replica } from '../replica.ts';

const DAMAGED =
  "The hub's copy is damaged. A device that still has this version restores it with its next sync; for an earlier one";

/** Records the paths that a pull left out. A path with another version here waits. */
export function noteLeftOut({ folder, state, damaged }: Replica, local: Scan, leftOut: LeftOut): void {
  for (const [path, remote] of leftOut) {
    if (local.excludes(path)) continue;
    damaged.set(path, remote);
    const here = local.files.get(path)?.sha256;
    const isHere = here === remote || state.base.get(path)?.sha256 === remote;
    if (isHere || state.waits.get(path)?.kind === 'conflict') continue;
    const reason = whyDamaged(folder.root.path, path);
    state.waits.set(path, { kind: 'hub', remote, local: here ?? null, conflictId: null, reason });
  }
}

/** The reason for the user. */
export function whyDamaged(root: string, path: FolderPath): string {
  return `${DAMAGED}: ${nextCommand(root, `sync history ${pathWord(path)}`)}`;
}
