/** Sets damaged blobs aside: kept and known, but never the latest, until an upload of the same bytes heals them. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { Store } from '../store/store.ts';
import { blobs, setAside } from './records.ts';
import { isWholeBlob } from './stored/stored-bytes.ts';

export interface SetAsideTools {
  readonly store: Store;
  readonly actors: ActorRegistry;
}

export type BlobKey = [accountId: string, commitSha: string, sha256: string];

/** Resolves with true when set aside; false: the blob is undamaged or deleted. */
export async function setBlobAside({ store, actors }: SetAsideTools, key: BlobKey, nowMs: number): Promise<boolean> {
  const [accountId, , sha256] = key;
  const seen = store.get(blobs, key);
  if (seen === undefined || (await isWholeBlob(store, sha256, seen))) return false;
  return await actors.account(accountId).ask((batch): boolean => {
    // Healed since the check, with new bytes.
    if (batch.get(blobs, key)?.storage_id !== seen.storage_id) return false;
    batch.put(setAside, key, { noted_at: new Date(nowMs).toISOString() });
    return true;
  });
}
