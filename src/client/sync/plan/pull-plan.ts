/** Decides what a pull does: which paths it compares whatever the cursor says, and what one change does here. Pure. */
import { type BaseRecord, isAgreedSide, type SyncState } from '../base/state.ts';
import type { FolderPath } from '../folder/path.ts';
import type { RemoteRecord } from '../remote-record.ts';
import { decidePull, type Hash, type PullAction } from './decide.ts';
import type { LocalView } from './push-plan.ts';
import { triedAgainMs } from './waits.ts';

export interface CompareOptions {
  /** Paths to compare in any case. */
  readonly recheck: Iterable<FolderPath>;
  /** True when nothing here keeps the hub's side from being written. */
  readonly canWrite: (path: FolderPath) => boolean;
  /** True when a download is queued or under way. */
  readonly isComing: (path: FolderPath) => boolean;
  /** Now, in milliseconds since 1970, where a file that could not be written is tried again after a pause; undefined: at once. */
  readonly pausesAtMs: number | undefined;
}

/** The paths to compare with the hub, although it may not have changed there since the last pull. */
export function pathsToCompare(
  { files, leavesOut }: LocalView,
  state: Pick<SyncState, 'base' | 'waits'>,
  { recheck, canWrite, isComing, pausesAtMs: nowMs }: CompareOptions,
): Set<FolderPath> {
  const found = new Set(recheck);
  for (const [path, { kind, local, failed }] of state.waits) {
    if (leavesOut(path)) continue;
    const isEdited = (files.get(path)?.sha256 ?? null) !== local;
    const isPausing = nowMs !== undefined && failed !== undefined && triedAgainMs(failed) > nowMs;
    if (kind === 'hub' && !isPausing && canWrite(path)) found.add(path);
    if (kind === 'download' && !isComing(path)) found.add(path);
    if (kind === 'conflict' && (isEdited || isAgreedSide(state, path, local))) found.add(path);
  }
  return found;
}

type RemoteBytes = Pick<NonNullable<RemoteRecord['side']>, 'sha256' | 'bytes' | 'file'>;

/** What to do with one change of the hub. `fetch`: its bytes are wanted, and they are long and were not sent. */
export function planChange(local: Hash, remote: RemoteBytes | undefined, base: Hash): PullAction | 'fetch' {
  const action = decidePull(local, remote?.sha256, base);
  const isWritten = action === 'take' || action === 'revive';
  return isWritten && remote !== undefined && remote.bytes === undefined && remote.file === undefined
    ? 'fetch'
    : action;
}

/** The executable bit of one path: here, on the hub, and agreed on. Undefined: unknown. */
export interface Bits {
  readonly local: boolean | undefined;
  readonly remote: boolean | undefined;
  readonly base: boolean | undefined;
}

/** Decides the executable bit by three-way comparison. `agree`: it only becomes the agreed one. `set`: also here. */
export function planBit({ local, remote, base }: Bits): 'unchanged' | 'agree' | 'set' {
  if (remote === undefined || remote === base) return 'unchanged';
  return remote === local || local === undefined ? 'agree' : 'set';
}

/**
 * What a version is worth on a hub that was restored from a backup. `doubtful`: stored after the last agreement, by a hub
 * that may have lost the agreed version. `older`: the local version is newer, and both sides once agreed on this one.
 */
export function worthAfterRestore(
  base: Pick<BaseRecord, 'sha256' | 'storedMs'> | undefined,
  { side, storedMs }: Pick<RemoteRecord, 'storedMs'> & { readonly side: { readonly sha256: string } | undefined },
): 'as agreed' | 'doubtful' | 'older' {
  if (base === undefined || base.sha256 === side?.sha256) return 'as agreed';
  return storedMs > (base.storedMs ?? Number.POSITIVE_INFINITY) ? 'doubtful' : 'older';
}
