/** Walks the history of a file, over the names that it had. */
import type { FileRecord } from '../log/file-record.ts';
import type { SyncReader } from '../log/reader.ts';

/**
 * The kept versions of a file, from `seq` to older ones: those of its path, and after a rename also those of its former
 * path. Versions from before renames were marked stay with their path. Stop iterating early: a busy file has very many.
 */
export function* lineage(reader: SyncReader, vaultId: string, seq: number): Generator<number> {
  // The next version of each path that the file has had.
  const branches = seq === 0 ? [] : [seq];
  while (branches.length > 0) {
    const newest = Math.max(...branches);
    branches.splice(branches.indexOf(newest), 1);
    const head = reader.versionHead(vaultId, newest);
    // Retention removed this version and the older ones.
    if (head === undefined) continue;
    yield newest;
    const meta = head.moved ? reader.versionMeta(vaultId, newest) : undefined;
    const left = meta === undefined ? 0 : reader.seqBeforeMove(vaultId, meta);
    branches.push(...[head.previousSeq, left].filter((next) => next !== 0 && !branches.includes(next)));
  }
}

/** True when a kept version belongs to the history of a file, under any of its names. */
export function isInLineage(reader: SyncReader, vaultId: string, file: FileRecord, wanted: number): boolean {
  for (const seq of lineage(reader, vaultId, file.seq)) if (seq <= wanted) return seq === wanted;
  return false;
}
