/** Finds conflict copies, and which of them hold nothing that their file does not have in its history. */
import type { FolderPath } from './folder/path.ts';
import { originalOf } from './plan/conflict-copy.ts';
import type { Replica } from './replica.ts';
import { scanFolder } from './scan/scan.ts';

export interface ConflictCopy {
  readonly path: FolderPath;
  /** The file of which it is a copy. */
  readonly of: FolderPath;
  /** True when its bytes are those of that file here, or of a version of it on the hub. */
  readonly isEqual: boolean;
  readonly sha256: string;
  readonly bytes: number;
}

/** The conflict copies of a folder that are synced, by path. */
export async function conflictCopies({ folder, hub, state }: Replica): Promise<ConflictCopy[]> {
  const { files, leavesOut } = await scanFolder(folder, state);
  const found: ConflictCopy[] = [];
  for (const path of [...files.keys()].sort()) {
    const of = originalOf(path);
    const file = files.get(path);
    if (of === undefined || file === undefined || leavesOut(path)) continue;
    const { sha256 } = file;
    const isEqual = files.get(of)?.sha256 === sha256 || (await hub.hasVersion(of, sha256));
    found.push({ path, of, isEqual, sha256, bytes: file.seen.bytes });
  }
  return found;
}

/** Removes the equal ones here; the next sync deletes them on the hub. Returns those that were removed. */
export function removeEqualCopies({ folder }: Replica, copies: readonly ConflictCopy[]): FolderPath[] {
  return copies.filter(({ path, isEqual, sha256 }) => isEqual && folder.remove(path, sha256)).map(({ path }) => path);
}
