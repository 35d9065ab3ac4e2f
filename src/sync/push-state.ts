/** Gathers what the decision on a push looks at: the cheap rows at once, the others only when they are asked for. */
import { limits } from '../limits.ts';
import type { Batch } from '../store/group-commit.ts';
import { type Hlc, parseHlc } from './hlc.ts';
import type { LogChange, VaultScope } from './log-change.ts';
import { foldersOf, protectedCheck } from './paths.ts';
import type { Clash, PushRequest, PushState } from './push-decision.ts';
import type { SyncReader } from './reader.ts';
import { type FileRecord, folders } from './records.ts';
import type { Vaults } from './vaults.ts';

export interface StateSources {
  readonly reader: SyncReader;
  readonly vaults: Vaults;
  readonly quotaBytes: number;
}

export interface StateSubject {
  readonly scope: VaultScope;
  readonly push: PushRequest;
  readonly change: LogChange;
  readonly nowMs: number;
}

/** What a decision on a push looks at, within its transaction. */
export function gatherState(
  { reader, vaults, quotaBytes }: StateSources,
  batch: Batch,
  subject: StateSubject,
): PushState {
  const { scope, push, change, nowMs } = subject;
  const { accountId, vaultId } = scope;
  const file = reader.file(vaultId, push.folded);
  return {
    file,
    pending: change.head.pending === 0 ? [] : reader.pendingOf(vaultId, push.folded),
    usageBytes: change.usageBytes,
    quotaBytes,
    clock: change.clock,
    nowMs,
    clash: () => findClash(batch, reader, vaultId, push.folded),
    isProtected: () => protectedCheck(vaults.record(accountId, vaultId).protected_paths)(push.path),
    fileHlc: storedHlc,
    isKnownOld: (sha256) => isKnownOld(reader, vaultId, file, sha256),
  };
}

/** A stored clock was readable when it came in. */
function storedHlc({ hlc, device_id: deviceId }: FileRecord): Hlc {
  const parsed = parseHlc(hlc, deviceId);
  if (parsed === undefined) throw new Error('a stored clock cannot be read; run cairn verify');
  return parsed;
}

/** What a new file would collide with: live files below it, or a file where it needs a folder. */
function findClash(batch: Batch, reader: SyncReader, vaultId: string, folded: string): Clash | undefined {
  if (batch.get(folders, [vaultId, folded]) !== undefined) return { kind: 'folder', path: folded };
  for (const folder of foldersOf(folded)) {
    const file = reader.file(vaultId, folder);
    if (file !== undefined && !file.deleted) return { kind: 'file', path: file.path };
    // A folder that holds live files has none but folders above it.
    if (batch.get(folders, [vaultId, folder]) !== undefined) return undefined;
  }
  return undefined;
}

/** Beyond the bound it cannot be ruled out, and what cannot be ruled out is a conflict. */
function isKnownOld(reader: SyncReader, vaultId: string, file: FileRecord | undefined, sha256: string): boolean {
  let looked = 0;
  for (const link of reader.chain(vaultId, file?.seq ?? 0)) {
    looked += 1;
    if (link.sha256 === sha256 || looked > limits.chainWalkMax) return true;
  }
  return false;
}
