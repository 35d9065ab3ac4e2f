/** Recounts the logs, and checks each version and conflict on the way. Read-only. */

import { limits } from '../../limits/service.ts';
import type { CheckedReader } from '../../store/checked-reader.ts';
import { foldCase } from '../../text/fold-case.ts';
import { chunkKeptBytes, keptBytes } from '../log/change.ts';
import { type Hlc, parseHlc } from '../log/hlc.ts';
import { conflicts, fileChunks, pendingConflicts, versions } from '../log/records.ts';
import { readVersionHead, readVersionMeta } from '../log/version.ts';
import type { ContentVerifier } from './contents.ts';

/** The counts of one vault according to its log. */
export interface VaultRecount {
  seq: number;
  storedMs: number;
  /** Of the newest version. */
  clock: Hlc | undefined;
  versions: number;
  pending: number;
  pendingBytes: number;
  keptBytes: number;
  /** The newest version of each folded path, with the number of versions. */
  readonly newest: Map<string, NewestVersion>;
}

/** What every path costs in memory while a hub is verified, so it is little: the rest is read again when it is compared. */
interface NewestVersion {
  readonly seq: number;
  readonly isFile: boolean;
  readonly sizeBytes: number;
  readonly lineBytes: number;
  readonly count: number;
  /** Set when the row of the file was met. */
  isMet: boolean;
}

/** Returns the recount of a vault, starting an empty one when there is none. */
export function recountOf(recounts: Map<string, VaultRecount>, vaultId: string): VaultRecount {
  let recount = recounts.get(vaultId);
  if (recount === undefined) {
    const counts = { seq: 0, storedMs: 0, versions: 0, pending: 0, pendingBytes: 0, keptBytes: 0 };
    recount = { ...counts, clock: undefined, newest: new Map() };
    recounts.set(vaultId, recount);
  }
  return recount;
}

/** Recounts versions in the order of the log, so that each comes after the one that it points at. */
export function recountVersions(reader: CheckedReader, content: ContentVerifier, problems: string[]) {
  const recounts = new Map<string, VaultRecount>();
  reader.eachKey(versions, ([vaultId, seq]) => {
    const name = `version ${vaultId} ${seq}`;
    const bytes = reader.view(versions, [vaultId, seq])?.slice();
    const recount = recountOf(recounts, vaultId);
    try {
      if (bytes === undefined) throw new Error('it does not exist');
      const head = readVersionHead(bytes);
      const meta = readVersionMeta(bytes);
      content.checkVersion([vaultId, seq], bytes);
      if (meta.seq !== seq) problems.push(`${name}: the record has number ${meta.seq}`);
      if (isBack(recount.storedMs, head.storedMs)) problems.push(`${name}: stored earlier than the version before it`);
      if (Date.parse(meta.stored_at) !== head.storedMs) problems.push(`${name}: its times differ`);
      recount.keptBytes += keptBytes(head.sizeBytes);
      const folded = foldCase(meta.path);
      const before = recount.newest.get(folded);
      if (before !== undefined ? head.previousSeq !== before.seq : isBroken(reader, vaultId, head.previousSeq)) {
        problems.push(`${name}: its chain is broken`);
      }
      recount.newest.set(folded, {
        seq,
        isFile: meta.type === 'file',
        sizeBytes: meta.size_bytes,
        lineBytes: head.lineBytes,
        count: (before?.count ?? 0) + 1,
        isMet: false,
      });
      recount.storedMs = head.storedMs;
      // Only the newest: earlier ones may be of a time when the hub's clock was wrong.
      recount.clock = parseHlc(meta.hlc, meta.device_id);
    } catch {
      // The report only needs to name the damaged version.
      problems.push(`${name}: it cannot be read`);
    }
    recount.seq = seq;
    recount.versions += 1;
  });
  return recounts;
}

/** True when the oldest stored version of a path points at an existing version. It may only point at a removed one. */
function isBroken(reader: CheckedReader, vaultId: string, previousSeq: number): boolean {
  return previousSeq !== 0 && reader.view(versions, [vaultId, previousSeq]) !== undefined;
}

export function recountConflicts(
  reader: CheckedReader,
  content: ContentVerifier,
  recounts: Map<string, VaultRecount>,
  problems: string[],
): void {
  reader.each(conflicts, ({ key, value }) => {
    const [vaultId, id] = key;
    const name = `conflict ${vaultId} ${id}`;
    const isPending = value.status === 'pending';
    const indexed = reader.get(pendingConflicts, [vaultId, foldCase(value.path), id]) !== undefined;
    if (indexed !== isPending)
      problems.push(`${name}: ${isPending ? 'pending, but not listed' : 'settled, but still listed'}`);
    if (isPending !== (value.settled_at === null)) problems.push(`${name}: its status contradicts its end`);
    content.checkConflict(name, vaultId, id, value);
    const recount = recountOf(recounts, vaultId);
    recount.keptBytes += keptBytes(value.size_bytes);
    if (!isPending) return;
    recount.pending += 1;
    recount.pendingBytes += value.size_bytes;
  });
  reader.eachKey(pendingConflicts, ([vaultId, folded, id]) => {
    if (reader.get(conflicts, [vaultId, id]) === undefined)
      problems.push(`pending ${vaultId} ${folded} ${id}: conflict not found`);
  });
}

/** Counts the bytes of chunks, which are kept once however many versions have them. */
export function recountChunks(reader: CheckedReader, recounts: Map<string, VaultRecount>): void {
  reader.each(fileChunks, ({ key, value }) => {
    recountOf(recounts, key[0]).keptBytes += chunkKeptBytes(value.bytes);
  });
}

/** True when a time is not after the previous one. A time much further back is from a clock corrected after a jump. */
function isBack(beforeMs: number, atMs: number): boolean {
  const backMs = beforeMs - atMs;
  return beforeMs > 0 && backMs >= 0 && backMs <= limits.clockJumpMs;
}
