/** Gathers the input of a push decision: cheap rows at once, others only when the decision needs them. */

import { limits } from '../../limits/service.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { FileRoom } from '../log/file-room.ts';
import { type Hlc, parseHlc } from '../log/hlc.ts';
import { foldersOf, type VaultPath } from '../log/paths.ts';
import type { SyncReader } from '../log/reader.ts';
import type { Turn } from '../log/vault-log.ts';
import type { Vaults } from '../vaults/vaults.ts';
import type { Clash, PushState } from './types.ts';

export interface StateSources {
  readonly vaults: Vaults;
  readonly room: FileRoom;
}

/** Returns the state of a path, within the transaction of a decision. `leaving`: the old path of a rename. */
export function gatherState(
  { vaults, room }: StateSources,
  { reader, change, accountId, vaultId, nowMs }: Turn,
  { path, folded }: VaultPath,
  leaving?: string,
): PushState {
  const file = reader.file(vaultId, folded);
  let fileHlc: Hlc | undefined;
  return {
    path,
    folded,
    file,
    pending: change.head.pending === 0 ? [] : reader.pendingOf(vaultId, folded),
    used: () => change.used,
    quotas: room.quotasOf(accountId),
    clock: change.clock,
    nowMs,
    clash: () => findClash(reader, vaultId, folded, leaving),
    isProtected: () => vaults.isProtected(reader, accountId, vaultId, folded),
    fileHlc: (of) => {
      if (of !== file) return storedHlc(of);
      fileHlc ??= storedHlc(of);
      return fileHlc;
    },
    hasConflict: (id) =>
      reader.hasConflict(vaultId, id) && foldCase(reader.conflict(vaultId, id).record.path) === folded,
    hasVersion: (sha) => hasVersion(reader, vaultId, file, sha),
  };
}

/** Parses a stored clock, which was checked when it was stored. */
function storedHlc({ hlc, device_id: deviceId }: FileRecord): Hlc {
  const parsed = parseHlc(hlc, deviceId);
  if (parsed === undefined) throw new Error('a stored clock cannot be read; run `cairn verify`');
  return parsed;
}

/** Returns what a new file would clash with: live files below its path, or a file where it needs a folder. */
export function findClash(reader: SyncReader, vaultId: string, folded: string, leaving?: string): Clash | undefined {
  if (reader.childrenOf(vaultId, folded) > 0 && !holdsOnly(reader, vaultId, folded, leaving)) {
    return { kind: 'folder', path: folded };
  }
  for (const folder of foldersOf(folded)) {
    const file = reader.file(vaultId, folder);
    if (file !== undefined && !file.deleted) return folder === leaving ? undefined : { kind: 'file', path: file.path };
    // Above a folder with live files there are only folders.
    if (reader.childrenOf(vaultId, folder) > 0) return undefined;
  }
  return undefined;
}

/** True when `file` is the only live file below a folder. */
function holdsOnly(reader: SyncReader, vaultId: string, folder: string, file: string | undefined): boolean {
  if (file === undefined || !file.startsWith(`${folder}/`)) return false;
  const between = foldersOf(file).filter((name) => name.length >= folder.length);
  return between.every((name) => reader.childrenOf(vaultId, name) === 1);
}

/** True when a version of the path has this hash, or when the walk ends at `chainWalkMax` without ruling it out. */
function hasVersion(reader: SyncReader, vaultId: string, file: FileRecord | undefined, sha: string): boolean {
  let looked = 0;
  for (const link of reader.chain(vaultId, file?.seq ?? 0)) {
    looked += 1;
    if (link.sha256 === sha || link.gitSha === sha || looked > limits.chainWalkMax) return true;
  }
  return false;
}
