/** Merges a saved text with a change that came first, as `cairn sync` does, if the two do not overlap. */
import { Refusal, type SyncConflict } from '../../../common/fault.ts';
import type { Sync } from '../../../sync/service.ts';
import { authorOf, type MemberVisit } from '../../visit.ts';

/** The version that was current before the merge, and the hash of the merged text. */
export interface MergedSave {
  readonly path: string;
  /** Who made the change that came first. */
  readonly by: string;
  /** Sequence number of the version before the merge: an undo restores it. */
  readonly seq: number;
  readonly sha256: string;
}

/**
 * Settles the conflict of a save with the merge of both texts. Undefined when they overlap, when one of them is deleted or
 * not text, and when the file changed once more meanwhile: then the conflict waits for the person.
 */
export async function mergeSaved(
  sync: Sync,
  visit: MemberVisit,
  vaultId: string,
  { conflictId }: Pick<SyncConflict, 'conflictId'>,
): Promise<MergedSave | undefined> {
  if (conflictId === null) return undefined;
  const { accountId } = visit;
  const { content, conflicts, ancestorSha, live, path } = await sync.merges.merge(accountId, {
    vault_id: vaultId,
    conflict_id: conflictId,
  });
  const isMerged = conflicts === 0 && ancestorSha !== undefined && content?.encoding === 'utf-8';
  if (!isMerged || live === undefined) return undefined;
  const keep = { side: 'edited', text: content.text, encoding: content.encoding } as const;
  const request = { vaultId, conflictId, keep, baseSha: live.sha256, deviceId: authorOf(visit) };
  try {
    await sync.conflicts.resolve(accountId, request);
  } catch (error) {
    // Somebody settled it, or changed the file again.
    if (error instanceof Refusal && error.fault.kind === 'invalid_fields') return undefined;
    throw error;
  }
  return { path, by: live.device_id, seq: live.seq, sha256: content.sha256 };
}
