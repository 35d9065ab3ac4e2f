/**
 * Sums up the subfolders of one page of a folder: bytes, and the newest change below each. Nothing is stored per
 * folder, so all subfolders of a page share a bounded number of rows; above its share, a sum is a lower bound.
 */
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import { files } from '../log/records.ts';

export interface FolderSum {
  /** Content bytes of its current files, at all depths. */
  readonly bytes: number;
  /** False: the folder has more files than were read, so `bytes` is a lower bound. */
  readonly isWhole: boolean;
  /** The newest change below it, deletions included. Undefined: it is older than the changes that were read. */
  readonly newest: { readonly storedMs: number; readonly deviceId: string } | undefined;
}

/** Returns the sum of each folder, by its path as given. Reads at most `folderSumRowsMax` rows for all of them. */
export async function sumFolders(
  { store, reader }: { readonly store: Store; readonly reader: SyncReader },
  { accountId, vaultId }: VaultOf,
  folders: readonly string[],
): Promise<ReadonlyMap<string, FolderSum>> {
  const sums = new Map<string, FolderSum>();
  let left: number = limits.folderSumRowsMax;
  for (const [index, folder] of folders.entries()) {
    // What small folders leave over goes to those after them.
    const share = Math.max(1, Math.floor(left / (folders.length - index)));
    const { sum, read } = sumOf(store, vaultId, `${foldCase(folder)}/`, share);
    sums.set(folder, sum);
    left -= read;
    if (turns.isOver) await turns.next(accountId);
  }
  addNewest(reader, vaultId, sums);
  return sums;
}

function sumOf(
  store: Store,
  vaultId: string,
  prefix: string,
  rowsMax: number,
): { readonly sum: FolderSum; readonly read: number } {
  let [bytes, read] = [0, 0];
  let newest: FolderSum['newest'];
  for (const { key, value: file } of store.entries(files, { prefix: [vaultId], beyond: prefix })) {
    if (!key[1].startsWith(prefix)) break;
    if (read === rowsMax) return { sum: { bytes, isWhole: false, newest: undefined }, read };
    read += 1;
    bytes += file.size_bytes;
    if (newest === undefined || file.stored_ms > newest.storedMs) {
      newest = { storedMs: file.stored_ms, deviceId: file.device_id };
    }
  }
  return { sum: { bytes, isWhole: true, newest }, read };
}

/** Finds the newest change of large folders at the end of the log. */
function addNewest(reader: SyncReader, vaultId: string, sums: Map<string, FolderSum>): void {
  const open = new Set([...sums].filter(([, { isWhole }]) => !isWhole).map(([folder]) => folder));
  const { seq } = reader.head(vaultId);
  for (let at = seq; open.size > 0 && at > Math.max(0, seq - limits.folderSumChangesMax); at -= 1) {
    const meta = reader.versionMeta(vaultId, at);
    if (meta === undefined) continue;
    const path = foldCase(meta.path);
    for (const folder of open) {
      const sum = sums.get(folder);
      if (sum === undefined || !path.startsWith(`${foldCase(folder)}/`)) continue;
      sums.set(folder, { ...sum, newest: { storedMs: Date.parse(meta.stored_at), deviceId: meta.device_id } });
      open.delete(folder);
    }
  }
}
