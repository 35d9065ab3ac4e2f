/**
 * Stages the chunks of uploads without a blob yet, and bounds the bytes waiting for the disk. Each commit waits for the disk
 * twice, whatever it carries, so chunks of uploads that go on arriving are committed several at a time.
 */

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
  #waitingBytes = 0;
  /** True when somebody waits for what is in the queue. */
  #isUrgent = false;
  readonly #store: Store;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#staged = new StagedBytes({ store, log, pieces: chunks, rows: stagedUploads });
  }

  /** Returns an unused storage id. */
  claim(): number {
    return this.#staged.claim();
  }

  /** Writes one chunk now; resolves when it is on disk. The bytes must not be modified before that. */
  put(storageId: number, accountId: string, index: number, bytes: Uint8Array): Promise<void> {
    const written = this.gather(storageId, accountId, index, bytes);
    this.hurry();
    return written;
  }

  /** As `put`, once there are enough bytes for a commit, of any uploads. The caller must call `hurry` after its last chunk. */
  async gather(storageId: number, accountId: string, index: number, bytes: Uint8Array): Promise<void> {
    await this.#admitted(accountId, bytes.length);
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

  /** Writes what was gathered so far: a caller waits for its chunks. */
  hurry(): void {
    this.#isUrgent = true;
    this.#startAll();
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
  #admitted(accountId: string, bytes: number): Promise<void> {
    return new Promise((start) => {
      this.#waiting.push(accountId, { bytes, start });
      this.#waitingBytes += bytes;
      this.#startAll();
    });
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    this.#startAll();
  }

  #startAll(): void {
    if (!this.#isUrgent && this.#waitingBytes < this.#store.bytesAtOnceMax) return;
    while (this.#bytes < this.#store.bytesAtOnceMax) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#isUrgent = false;
        return;
      }
      this.#bytes += next.bytes;
      this.#waitingBytes -= next.bytes;
      next.start();
    }
  }
}
