/**
 * Stages bytes on disk in pieces until a decision adopts them. The first piece is written together with a row that
 * marks it as staged. Adopting removes the row; discarding removes pieces and row. So a row found at start was left by
 * a crash, and is swept.
 */

import type { Log } from '../common/log.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from './group-commit.ts';
import { intact } from './intact.ts';
import { SWEEP } from './owners.ts';
import type { Store } from './store.ts';
import type { Table } from './table.ts';

export interface StagedBytesOptions<Row> {
  readonly store: Store;
  readonly log: Log;
  readonly pieces: Table<[storageId: number, index: number], Uint8Array>;
  readonly rows: Table<[storageId: number], Row>;
  /** Takes back what a staged content already counts elsewhere, before it is removed. */
  readonly release?: ((storageId: number, row: Row) => Promise<void>) | undefined;
}

export class StagedBytes<Row> {
  readonly #options: StagedBytesOptions<Row>;
  #nextId: number;
  /** Storage ids whose discard failed and will be retried. */
  readonly #undiscarded = new Set<number>();
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  #sweep: Promise<number> = Promise.resolve(0);

  constructor(options: StagedBytesOptions<Row>) {
    const { store, pieces, rows } = options;
    this.#options = options;
    this.#nextId = Math.max(store.lastKey(pieces)?.[0] ?? 0, store.lastKey(rows)?.[0] ?? 0) + 1;
  }

  /** Returns an unused storage id. */
  claim(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** Writes the first piece and its row; resolves when both are on disk. Do not modify the bytes before that. */
  async begin(storageId: number, row: Row, bytes: Uint8Array): Promise<void> {
    const { store, pieces, rows } = this.#options;
    const claimed = { table: rows, key: [storageId], bytes: rows.codec.encode(row) };
    await store.writeBytes([claimed, { table: pieces, key: [storageId, 0], bytes }]);
  }

  /** Writes a further piece; resolves when it is on disk, like `begin`. */
  async put(storageId: number, index: number, bytes: Uint8Array): Promise<void> {
    const { store, pieces } = this.#options;
    await store.writeBytes([{ table: pieces, key: [storageId, index], bytes }]);
  }

  /** Within a decision: adopts the pieces for the rows it writes. False when nothing is staged under this id. */
  adopt(batch: Batch, storageId: number): boolean {
    const { rows } = this.#options;
    if (batch.get(rows, [storageId]) === undefined) return false;
    batch.remove(rows, [storageId]);
    return true;
  }

  /** Removes the bytes staged under an id. Never rejects; a failed removal is retried until it succeeds. */
  async discard(storageId: number): Promise<void> {
    try {
      await this.#remove(storageId);
      this.#undiscarded.delete(storageId);
    } catch (error) {
      this.#undiscarded.add(storageId);
      this.#options.log.warn({ err: error }, 'staged bytes could not be removed yet');
      if (this.#retry === undefined) {
        this.#retry = setTimeout(() => void this.#discardAgain(), limits.discardRetryMs).unref();
      }
    }
  }

  /**
   * At start, before anything is staged: removes bytes left by a crash, one id after another. Resolves with the number of
   * storage ids removed; what is staged meanwhile is not among them, so a caller need not wait.
   */
  sweep(): Promise<number> {
    this.#sweep = this.#discardAll([...this.#options.store.keys(this.#options.rows)].map(([storageId]) => storageId));
    return this.#sweep;
  }

  /** Ends a sweep at its next id; the next start goes on. Resolves once it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#sweep;
  }

  async #discardAll(storageIds: readonly number[]): Promise<number> {
    let removed = 0;
    for (const storageId of storageIds) {
      if (this.#isClosed) break;
      await this.discard(storageId);
      if (!this.#undiscarded.has(storageId)) removed += 1;
    }
    return removed;
  }

  /**
   * Removes the pieces, then the row, in two commits: pages freed by a commit are reusable only after the next commit,
   * and on a full disk there might be no other.
   */
  async #remove(storageId: number): Promise<void> {
    const { store, pieces, rows, release } = this.#options;
    const row = release === undefined ? undefined : intact(store, rows, [storageId]);
    if (row !== undefined) await release?.(storageId, row);
    await store.write(SWEEP, (batch) => {
      // Keys only: reading the pieces would copy every byte.
      for (const key of batch.keys(pieces, [storageId])) batch.remove(pieces, key);
    });
    await store.write(SWEEP, (batch) => batch.remove(rows, [storageId]));
  }

  async #discardAgain(): Promise<void> {
    this.#retry = undefined;
    // A copy: a discard that fails again puts its id back.
    for (const storageId of Array.from(this.#undiscarded)) await this.discard(storageId);
  }
}
