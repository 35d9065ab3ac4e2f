/**
 * Orders the history of a file, newest first: the versions of its path, and after a rename also those of its former
 * path. Versions from before renames were marked stay with their path.
 */
import type { SyncReader } from '../log/reader.ts';

/** The kept versions of a file, from `seq` to older ones. Stop iterating early: a busy file has very many. */
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
