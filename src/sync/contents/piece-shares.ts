/**
 * Owns how many versions and conflicts hold the same pieces. A restored version shares those of the one it came from, so
 * pieces go only with the last that holds them. One per decision: it remembers what the decision did so far.
 */
import type { Batch } from '../../store/group-commit.ts';
import { pieceShares, pieces } from '../log/records.ts';

export class PieceShares {
  readonly #batch: Batch;
  readonly #counts = new Map<number, number>();

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** One more holds these pieces. */
  share(storageId: number): void {
    this.#set(storageId, this.#count(storageId) + 1);
  }

  /** One less holds these pieces; with the last they go. */
  release(storageId: number): void {
    const left = this.#count(storageId) - 1;
    this.#set(storageId, left);
    if (left > 0) return;
    for (const key of this.#batch.keys(pieces, [storageId])) this.#batch.remove(pieces, key);
  }

  /** Without a row there is one holder. */
  #count(storageId: number): number {
    return this.#counts.get(storageId) ?? this.#batch.get(pieceShares, [storageId])?.holders ?? 1;
  }

  #set(storageId: number, holders: number): void {
    this.#counts.set(storageId, holders);
    if (holders > 1) this.#batch.put(pieceShares, [storageId], { holders });
    else this.#batch.remove(pieceShares, [storageId]);
  }
}
