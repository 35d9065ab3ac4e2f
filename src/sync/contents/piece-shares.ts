/**
 * Counts the versions and conflicts that share the same pieces. A restored version shares the pieces of its source, so
 * pieces are removed only with their last holder. Create one per decision: it remembers the counts written so far.
 */
import type { Batch } from '../../store/group-commit.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { pieceShares, pieces } from '../log/records.ts';

/** Removes the pieces of a storage id, without reading them. */
export function removePieces(batch: Batch, storageId: number): void {
  for (const key of batch.keys(pieces, [storageId])) batch.remove(pieces, key);
}

/** Within a decision: counts one more holder of the pieces that a stored content has. */
export function shareContent(batch: Batch, content: ReadyContent | undefined): void {
  if (content?.stored.kind === 'pieces') new PieceShares(batch).share(content.stored.storageId);
}

export class PieceShares {
  readonly #batch: Batch;
  readonly #counts = new Map<number, number>();

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  share(storageId: number): void {
    this.#set(storageId, this.#count(storageId) + 1);
  }

  /** Removes a holder of these pieces. `last` removes the pieces with the last one. */
  release(storageId: number, last: (storageId: number) => void = (id) => removePieces(this.#batch, id)): void {
    const left = this.#count(storageId) - 1;
    this.#set(storageId, left);
    if (left <= 0) last(storageId);
  }

  /** No row means one holder. */
  #count(storageId: number): number {
    return this.#counts.get(storageId) ?? this.#batch.get(pieceShares, [storageId])?.holders ?? 1;
  }

  #set(storageId: number, holders: number): void {
    this.#counts.set(storageId, holders);
    if (holders > 1) this.#batch.put(pieceShares, [storageId], { holders });
    else this.#batch.remove(pieceShares, [storageId]);
  }
}
