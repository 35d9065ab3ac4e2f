/** Owns files of which the hub's copy is damaged, so that no pull brings them: what is here stays, and what is equal heals it. */
import { quoted } from '../../shown.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../folder/scan.ts';
import type { LeftOut } from '../remote-record.ts';
import type { SyncSession } from '../session.ts';

const DAMAGED =
  "The hub's copy is damaged. A device that still has this version restores it with its next sync; for an earlier one: cairn sync history";

/** Notes what a pull left out. What is not here in that version waits for it. */
export function noteLeftOut({ state, damaged }: SyncSession, local: Scan, leftOut: LeftOut): void {
  for (const [path, remote] of leftOut) {
    if (local.excludes(path)) continue;
    damaged.set(path, remote);
    const here = local.files.get(path)?.sha256;
    const isHere = here === remote || state.base.get(path)?.sha256 === remote;
    if (isHere || state.waits.get(path)?.kind === 'conflict') continue;
    state.waits.set(path, { kind: 'hub', remote, local: here ?? null, conflictId: null, reason: whyDamaged(path) });
  }
}

/** In words for the user. */
export function whyDamaged(path: FolderPath): string {
  return `${DAMAGED} ${quoted(path)}`;
}
