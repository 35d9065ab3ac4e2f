/**
 * Owns the order in which the history of a file is told: its path's versions, and where it came from another path those
 * of that path too, newest first. Versions from before renames were marked stay with their path.
 */
import type { SyncReader } from '../log/reader.ts';

/** The kept versions of a file from `seq` on, newest first. Stop it early: a busy file has very many. */
export function* lineage(reader: SyncReader, vaultId: string, seq: number): Generator<number> {
  // Where each path that the file has had goes on.
  const branches = seq === 0 ? [] : [seq];
  while (branches.length > 0) {
    const newest = Math.max(...branches);
    branches.splice(branches.indexOf(newest), 1);
    const head = reader.versionHead(vaultId, newest);
    // What is older was let go of.
    if (head === undefined) continue;
    yield newest;
    const meta = head.moved ? reader.versionMeta(vaultId, newest) : undefined;
    const left = meta === undefined ? 0 : reader.seqBeforeMove(vaultId, meta);
    branches.push(...[head.previousSeq, left].filter((next) => next !== 0 && !branches.includes(next)));
  }
}
