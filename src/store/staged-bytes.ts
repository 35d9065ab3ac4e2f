/**
 * Owns bytes that are on the disk in pieces and belong to nothing yet. The first piece lands together with a row that says
 * so; the decision that adopts them removes the row and giving up removes both, so a row that a start finds is what a crash
 * left, and is swept.
 */

import type { Log } from '../common/log.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from './group-commit.ts';
import { SWEEP } from './owners.ts';
import type { Store } from './store.ts';
import type { Table } from './table.ts';

export interface StagedBytesOptions<Row> {
  readonly store: Store;
  readonly log: Log;
  readonly pieces: Table<[storageId: number, index: number], Uint8Array>;
  readonly rows: Table<[storageId: number], Row>;
}

export class StagedBytes<Row> {
  readonly #options: StagedBytesOptions<Row>;
  #nextId: number;
  /** Discards that failed because the disk was full, by storage id. */
  readonly #undiscarded = new Set<number>();
  #retry: NodeJS.Timeout | undefined;

  constructor(options: StagedBytesOptions<Row>) {
    const { store, pieces, rows } = options;
    this.#options = options;
    this.#nextId = Math.max(store.lastKey(pieces)?.[0] ?? 0, store.lastKey(rows)?.[0] ?? 0) + 1;
  }

  /** A storage id that no piece has. */
  claim(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** Writes the first piece and its row; resolves when they are on disk. The bytes must not be touched before that. */
  async begin(storageId: number, row: Row, bytes: Uint8Array): Promise<void> {
    const { store, pieces, rows } = this.#options;
    const claimed = { table: rows, key: [storageId], bytes: rows.codec.encode(row) };
    await store.writeBytes([claimed, { table: pieces, key: [storageId, 0], bytes }]);
  }

  /** Writes a further piece, as `begin` does. */
  async put(storageId: number, index: number, bytes: Uint8Array): Promise<void> {
    const { store, pieces } = this.#options;
    await store.writeBytes([{ table: pieces, key: [storageId, index], bytes }]);
  }

  /** Within a decision: the pieces belong to what it writes from now on. False when they are not in the store yet. */
  adopt(batch: Batch, storageId: number): boolean {
    const { rows } = this.#options;
    if (batch.get(rows, [storageId]) === undefined) return false;
    batch.remove(rows, [storageId]);
    return true;
  }

  /** Removes what was staged under an id; on a full disk it is tried again until it works. */
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

  /** At start: removes what a crash left. Resolves with how many ids that were. */
  async sweep(): Promise<number> {
    const left = [...this.#options.store.keys(this.#options.rows)];
    for (const [storageId] of left) await this.#remove(storageId);
    return left.length;
  }

  /**
   * First the pieces, then the row: what a commit frees may be used again only after the commit that follows it, and on
   * a full disk no other might follow.
   */
  async #remove(storageId: number): Promise<void> {
    const { store, pieces, rows } = this.#options;
    await store.write(SWEEP, (batch) => {
      // Keys only: reading the pieces just to remove them would copy every byte.
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
