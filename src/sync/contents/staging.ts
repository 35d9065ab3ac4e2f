/** Owns the pieces of long contents that belong to no version yet: how many contents are staged at once. */

import { FairQueue } from '../../common/fair-queue.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { StagedBytes } from '../../store/staged-bytes.ts';
import type { Store } from '../../store/store.ts';
import { pieces, stagedPieces } from '../log/records.ts';

export class PieceStaging {
  readonly #staged: StagedBytes<{ readonly started_at: string }>;
  #running = 0;
  readonly #waiting = new FairQueue<() => void>();

  constructor(store: Store, log: Log) {
    this.#staged = new StagedBytes({ store, log, pieces, rows: stagedPieces });
  }

  /** Runs one of a bounded number of long pushes, so that memory is bounded; turns go round the accounts that wait. */
  async turn<T>(accountId: string, run: () => Promise<T>): Promise<T> {
    if (this.#running >= limits.longPushesMax) {
      await new Promise<void>((resolve) => this.#waiting.push(accountId, resolve));
    } else this.#running += 1;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Puts bytes on the disk in pieces; resolves with their storage id. They belong to nothing until they are adopted. */
  async stage(bytes: Uint8Array): Promise<number> {
    const storageId = this.#staged.claim();
    const piece = (index: number) => bytes.subarray(index * limits.pieceBytes, (index + 1) * limits.pieceBytes);
    try {
      await this.#staged.begin(storageId, { started_at: new Date().toISOString() }, piece(0));
      for (let index = 1; index * limits.pieceBytes < bytes.length; index += 1) {
        await this.#staged.put(storageId, index, piece(index));
      }
      return storageId;
    } catch (error) {
      await this.discard(storageId);
      throw error;
    }
  }

  /** Within a decision: the pieces belong to what this decision writes. */
  adopt(batch: Batch, storageId: number): void {
    this.#staged.adopt(batch, storageId);
  }

  /** Removes what was staged under an id; on a full disk it is tried again until it works. */
  discard(storageId: number): Promise<void> {
    return this.#staged.discard(storageId);
  }

  /** At start: removes what a crash left. Resolves with how many contents that were. */
  sweep(): Promise<number> {
    return this.#staged.sweep();
  }
}
