/**
 * Changes how many lists have a chunk, within a decision. A chunk that no list has is removed with its pieces, once a day
 * has passed since its sender was last told that it is here.
 */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { intact } from '../../store/intact.ts';
import type { Chunk } from '../../text/chunk-list.ts';
import { chunkKeptBytes } from '../log/change.ts';
import { type ChunkRecord, fileChunks, vaultHeads } from '../log/records.ts';
import { removePieces } from './piece-shares.ts';

const HOUR_MS = 3_600_000;

/** True when no answer of the last day has said that the hub has this chunk. `nowMs`: in milliseconds since 1970. */
export function isForgotten({ since_ms: sinceMs }: Pick<ChunkRecord, 'since_ms'>, nowMs: number): boolean {
  return sinceMs < nowMs - (limits.looseChunkHours + limits.looseChunkNoteHours) * HOUR_MS;
}

/** True when an answer that the hub has this chunk has to be noted first. */
export function isToNote({ since_ms: sinceMs }: Pick<ChunkRecord, 'since_ms'>, nowMs: number): boolean {
  return sinceMs < nowMs - limits.looseChunkNoteHours * HOUR_MS;
}

/** Notes that the sender of these chunks is told that they are here. Returns those that are not. */
export function noteTold(batch: Batch, vaultId: string, names: readonly string[], nowMs: number): string[] {
  return names.filter((sha256) => {
    const row = batch.get(fileChunks, [vaultId, sha256]);
    if (row !== undefined && isToNote(row, nowMs)) {
      batch.put(fileChunks, [vaultId, sha256], { ...row, since_ms: nowMs });
    }
    return row === undefined;
  });
}

/** Counts one more list. Throws Refusal `invalid_fields` for chunks that are not stored. */
export function holdChunks(batch: Batch, vaultId: string, chunks: readonly Chunk[]): void {
  const rows = chunks.map(({ sha256 }) => [sha256, batch.get(fileChunks, [vaultId, sha256])] as const);
  const missing = rows.flatMap(([sha256, row]) => (row === undefined ? [sha256] : []));
  if (missing.length > 0) throw missingChunks(missing);
  for (const [sha256, row] of rows) {
    if (row !== undefined) batch.put(fileChunks, [vaultId, sha256], { ...row, holders: row.holders + 1 });
  }
}

/**
 * Counts one list less. Removes the chunks that no other list has and no answer named for a day; the others wait for
 * their push to be sent again, until `removeLoose`. A damaged row stays as it is.
 */
export function releaseChunks(batch: Batch, vaultId: string, chunks: readonly Chunk[], nowMs: number): void {
  let freed = 0;
  for (const { sha256 } of chunks) {
    const row = intact(batch, fileChunks, [vaultId, sha256]);
    if (row === undefined) continue;
    const holders = Math.max(0, row.holders - 1);
    if (holders > 0 || !isForgotten(row, nowMs)) batch.put(fileChunks, [vaultId, sha256], { ...row, holders });
    else freed += removeChunk(batch, vaultId, sha256, row);
  }
  countFreed(batch, vaultId, freed);
}

/** Removes those of these chunks that no list has by now and no answer named for a day. */
export function removeLoose(batch: Batch, vaultId: string, names: readonly string[], nowMs: number): void {
  let freed = 0;
  for (const sha256 of names) {
    const row = intact(batch, fileChunks, [vaultId, sha256]);
    if (row === undefined || row.holders > 0 || !isForgotten(row, nowMs)) continue;
    freed += removeChunk(batch, vaultId, sha256, row);
  }
  countFreed(batch, vaultId, freed);
}

export function missingChunks(missing: readonly string[]): Error {
  const which = missing.length === 1 ? `a chunk is` : `${missing.length} chunks are`;
  return invalidField('content', `${which} not on the hub; send ${missing[0]} first, as its bytes`);
}

/** The chunks of a list, each once, in the order of their first place. */
export function eachOnce(listed: readonly Chunk[]): Chunk[] {
  return [...new Map(listed.map((chunk) => [chunk.sha256, chunk])).values()];
}

/** Counts bytes that are kept no longer. A vault being deleted no longer has a head. */
export function countFreed(batch: Batch, vaultId: string, bytes: number): void {
  const head = bytes === 0 ? undefined : batch.get(vaultHeads, [vaultId]);
  if (head !== undefined) batch.put(vaultHeads, [vaultId], { ...head, kept_bytes: head.kept_bytes - bytes });
}

/** Returns the bytes that no longer count. */
function removeChunk(
  batch: Batch,
  vaultId: string,
  sha256: string,
  { storage_id: storageId, bytes }: { readonly storage_id: number; readonly bytes: number },
): number {
  batch.remove(fileChunks, [vaultId, sha256]);
  removePieces(batch, storageId);
  return chunkKeptBytes(bytes);
}
