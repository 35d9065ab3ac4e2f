/**
 * Owns the order in which the history of a file is told: its path's versions, and where it came from another path those
 * of that path too, newest first. Versions from before renames were marked stay with their path.
 */
import { foldCase } from '../../text/fold-case.ts';
import type { SyncReader } from '../log/reader.ts';
import type { VersionMeta } from '../log/version.ts';

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
    const left = meta === undefined ? 0 : seqBeforeMove(reader, vaultId, meta);
    branches.push(...[head.previousSeq, left].filter((next) => next !== 0 && !branches.includes(next)));
  }
}

/** The last version that the file had on the path that it left: a rename writes the tombstone there, then itself. */
function seqBeforeMove(reader: SyncReader, vaultId: string, { seq, renamed_from: from = '' }: VersionMeta): number {
  const tombstone = reader.versionMeta(vaultId, seq - 1);
  const isOfMove = tombstone?.type === 'deleted' && foldCase(tombstone.path) === foldCase(from);
  return isOfMove ? (reader.versionHead(vaultId, seq - 1)?.previousSeq ?? 0) : 0;
}
