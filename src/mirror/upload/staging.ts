/** Stages the chunks of uploads without a blob yet, and bounds the bytes waiting for the disk. */

import { FairQueue } from '../../common/fair/fair-queue.ts';
import type { Log } from '../../common/log.ts';
import type { Batch } from '../../store/group-commit.ts';
import { StagedBytes } from '../../store/staged-bytes.ts';
import type { Store } from '../../store/store.ts';
import { chunks, type StagingRecord, stagedUploads } from '../records.ts';

interface Waiting {
  readonly bytes: number;
  start(): void;
}

export class Staging {
  readonly #staged: StagedBytes<StagingRecord>;
  /** Bytes handed to the store but not on disk yet: the store copies them, so they are bounded over all uploads. */
  #bytes = 0;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #store: Store;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#staged = new StagedBytes({ store, log, pieces: chunks, rows: stagedUploads });
  }

  /** Returns an unused storage id. */
  claim(): number {
    return this.#staged.claim();
  }

  /** Writes one chunk; resolves when it is on disk. The bytes must not be modified before that. */
  async put(storageId: number, accountId: string, index: number, bytes: Uint8Array): Promise<void> {
    await this.#admit(accountId, bytes.length);
    try {
      if (index > 0) await this.#staged.put(storageId, index, bytes);
      else {
        const row = { account_id: accountId, started_at: new Date().toISOString() };
        await this.#staged.begin(storageId, row, bytes);
      }
    } finally {
      this.#release(bytes.length);
    }
  }

  /** Within a decision: a blob adopts the chunks. False when they are not in the store yet. */
  adopt(batch: Batch, storageId: number): boolean {
    return this.#staged.adopt(batch, storageId);
  }

  /** Within a decision: the chunks of a removed blob belong to nobody; `discard` or the next start removes them. */
  orphan(batch: Batch, storageId: number, accountId: string): void {
    batch.put(stagedUploads, [storageId], { account_id: accountId, started_at: new Date().toISOString() });
  }

  /** Removes the staged chunks of an id; on a full disk it retries until it succeeds. */
  discard(storageId: number): Promise<void> {
    return this.#staged.discard(storageId);
  }

  /** At start: removes uploads left by a crash. Resolves with their number. */
  sweep(): Promise<number> {
    return this.#staged.sweep();
  }

  /**
   * Accounts take turns. Chunks of one account are admitted in call order: a small last chunk overtaking its first would be
   * on disk without a staging row.
   */
  #admit(accountId: string, bytes: number): Promise<void> | undefined {
    if (this.#hasRoom && this.#waiting.size === 0) {
      this.#bytes += bytes;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(accountId, { bytes, start: resolve }));
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    while (this.#hasRoom) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#bytes += next.bytes;
      next.start();
    }
  }

  get #hasRoom(): boolean {
    return this.#bytes < this.#store.bytesAtOnceMax;
  }
}
