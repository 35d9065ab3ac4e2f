/**
 * Stages the pieces of long contents before they belong to a version, and limits how many contents are staged at once.
 */

import type { ActorRegistry } from '../../actors/registry.ts';
import { FairPlaces } from '../../common/fair/fair-places.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { StagedBytes } from '../../store/staged-bytes.ts';
import type { Store } from '../../store/store.ts';
import { pieces, type StagedRecord, stagedPieces } from '../log/records.ts';
import { HeldLists } from './held-lists.ts';

export interface PieceStagingOptions {
  readonly store: Store;
  readonly actors: Pick<ActorRegistry, 'vault'>;
  readonly log: Log;
  readonly now: () => number;
}

export class PieceStaging {
  readonly lists: HeldLists;
  readonly #staged: StagedBytes<StagedRecord>;
  readonly #places = new FairPlaces(limits.longPushesMax);

  constructor({ store, actors, log, now }: PieceStagingOptions) {
    this.lists = new HeldLists({ store, actors, now });
    const release = (storageId: number, row: StagedRecord) => this.lists.release(storageId, row);
    this.#staged = new StagedBytes({ store, log, pieces, rows: stagedPieces, release });
  }

  /** Runs a long push; at most `limits.longPushesMax` run at once, which bounds memory. Waiting accounts take turns. */
  turn<T>(accountId: string, run: () => Promise<T>): Promise<T> {
    return this.#places.run(accountId, run);
  }

  /** Writes bytes to disk in pieces. Resolves with their storage id. They belong to nothing until adopted. */
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

  /** Within a decision: assigns the pieces to the rows written by the decision. */
  adopt(batch: Batch, storageId: number): void {
    this.#staged.adopt(batch, storageId);
  }

  /** Removes the staged pieces of an id. Retries on a full disk until it works. */
  discard(storageId: number): Promise<void> {
    return this.#staged.discard(storageId);
  }

  /** At start, before anything is staged: removes pieces left by a crash. Resolves with the number of contents removed. */
  sweep(): Promise<number> {
    return this.#staged.sweep();
  }

  /** Ends a sweep; the next start goes on. */
  close(): Promise<void> {
    return this.#staged.close();
  }
}
