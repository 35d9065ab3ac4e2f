/**
 * Counts the stored lists that have a chunk. A list is counted once, however many versions share it: `PieceShares` tells
 * when its last holder is gone. Create one per decision: it remembers the counts written so far.
 */
import { invalidField } from '../../common/fault.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Chunk } from '../../text/chunk-list.ts';
import { readChunkList } from '../log/large-content.ts';
import type { ChunksHeld } from '../log/ready-content.ts';
import { type ChunkRecord, fileChunks, pieces } from '../log/records.ts';
import { removePieces } from './piece-shares.ts';

/** Within a decision: counts a new list. Throws Refusal `invalid_fields` for a chunk that is not stored. */
export function holdChunks(batch: Batch, { vaultId, chunks: listed }: ChunksHeld): void {
  for (const { sha256 } of eachOnce(listed)) {
    const row = batch.get(fileChunks, [vaultId, sha256]);
    if (row === undefined) throw missingChunks([sha256]);
    batch.put(fileChunks, [vaultId, sha256], { ...row, holders: row.holders + 1 });
  }
}

export function missingChunks(missing: readonly string[]): Error {
  const which = missing.length === 1 ? `a chunk is` : `${missing.length} chunks are`;
  return invalidField('content', `${which} not on the hub; send ${missing[0]} first, as its bytes`);
}

export class ChunkRefs {
  readonly #batch: Batch;
  readonly #vaultId: string;
  readonly #rows = new Map<string, ChunkRecord | undefined>();

  constructor(batch: Batch, vaultId: string) {
    this.#batch = batch;
    this.#vaultId = vaultId;
  }

  /** Ends a list whose last holder is gone, before its pieces are removed. Returns the bytes of the chunks that went with it. */
  releaseList(storageId: number): number {
    const text = this.#batch.get(pieces, [storageId, 0]);
    // Without its text, nothing is known of its chunks: they stay.
    const listed = text === undefined ? [] : (readChunkList(Buffer.from(text).toString('latin1')) ?? []);
    let freed = 0;
    for (const { sha256 } of eachOnce(listed)) {
      const row = this.#rowOf(sha256);
      if (row === undefined) continue;
      const left = { ...row, holders: row.holders - 1 };
      if (left.holders > 0) this.#put(sha256, left);
      else freed += this.#remove(sha256, row);
    }
    return freed;
  }

  /** Removes a chunk that no list has. Returns its bytes, or 0 when a list has it by now. */
  removeLoose(sha256: string, beforeMs: number): number {
    const row = this.#rowOf(sha256);
    return row === undefined || row.holders > 0 || row.since_ms >= beforeMs ? 0 : this.#remove(sha256, row);
  }

  #remove(sha256: string, { storage_id: storageId, bytes }: ChunkRecord): number {
    this.#rows.set(sha256, undefined);
    this.#batch.remove(fileChunks, [this.#vaultId, sha256]);
    removePieces(this.#batch, storageId);
    return bytes;
  }

  #rowOf(sha256: string): ChunkRecord | undefined {
    return this.#rows.has(sha256) ? this.#rows.get(sha256) : this.#batch.get(fileChunks, [this.#vaultId, sha256]);
  }

  #put(sha256: string, row: ChunkRecord): void {
    this.#rows.set(sha256, row);
    this.#batch.put(fileChunks, [this.#vaultId, sha256], row);
  }
}

/** The chunks of a list, each once. */
export function eachOnce(listed: readonly Chunk[]): Iterable<Chunk> {
  return new Map(listed.map((chunk) => [chunk.sha256, chunk])).values();
}
