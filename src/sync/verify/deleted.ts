/** Reads the remaining rows of deleted vaults. They need not be consistent, but what they use is not a stray. */
import type { CheckedReader } from '../../store/checked-reader.ts';
import { packs } from '../log/pack-records.ts';
import { conflicts, deletedVaults, fileChunks, versions } from '../log/records.ts';
import { readVersionHead } from '../log/version.ts';
import { readPackSummary } from '../packs/index-layout.ts';

export interface DeletedRows {
  readonly vaultIds: readonly string[];
  /** Number of their versions and conflicts using each storage id. */
  readonly holders: ReadonlyMap<number, number>;
  readonly packIds: ReadonlySet<number>;
}

export const NOTHING_DELETED: DeletedRows = { vaultIds: [], holders: new Map(), packIds: new Set() };

/** Reads every version and conflict of deleted vaults. */
export function deletedRows(reader: CheckedReader): DeletedRows {
  const vaultIds = [...reader.keys(deletedVaults)].map(([vaultId]) => vaultId);
  const holders = new Map<number, number>();
  const hold = (storageId: number) => {
    if (storageId !== 0) holders.set(storageId, (holders.get(storageId) ?? 0) + 1);
  };
  const packIds = new Set<number>();
  for (const vaultId of vaultIds) {
    for (const key of reader.keys(versions, [vaultId])) {
      reader.guard(versions, key, () => {
        const bytes = reader.view(versions, key);
        if (bytes !== undefined) hold(readVersionHead(bytes).storageId);
      });
    }
    for (const key of reader.keys(conflicts, [vaultId])) hold(reader.get(conflicts, key)?.storage_id ?? 0);
    for (const key of reader.keys(fileChunks, [vaultId])) hold(reader.get(fileChunks, key)?.storage_id ?? 0);
    for (const key of reader.keys(packs, [vaultId])) {
      reader.guard(packs, key, () => {
        const index = reader.get(packs, key);
        if (index !== undefined) packIds.add(readPackSummary(key[1], index).packId);
      });
    }
  }
  return { vaultIds, holders, packIds };
}
