/** Sets damaged blobs aside: they are kept, are not the latest, and count as known, until an upload of the same bytes heals them. */
import type { ActorRegistry } from '../actors/registry.ts';
import type { Store } from '../store/store.ts';
import { blobs, setAside } from './records.ts';
import { isWholeBlob } from './stored-bytes.ts';

export interface SetAsideTools {
  readonly store: Store;
  readonly actors: ActorRegistry;
}

export type BlobKey = [accountId: string, commitSha: string, sha256: string];

/** Returns whether it did: a blob that is whole, or gone, stays as it is. */
export async function setBlobAside({ store, actors }: SetAsideTools, key: BlobKey, nowMs: number): Promise<boolean> {
  const [accountId, , sha256] = key;
  const seen = store.get(blobs, key);
  if (seen === undefined || (await isWholeBlob(store, sha256, seen))) return false;
  return await actors.account(accountId).ask((batch): boolean => {
    // Healed since: its bytes are others now.
    if (batch.get(blobs, key)?.storage_id !== seen.storage_id) return false;
    batch.put(setAside, key, { noted_at: new Date(nowMs).toISOString() });
    return true;
  });
}
