/** Owns the chunks of uploads that belong to no blob yet: how many bytes of them wait for the disk at once. */

import type { Log } from '../common/log.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import { StagedBytes } from '../store/staged-bytes.ts';
import type { Store } from '../store/store.ts';
import { chunks, type StagingRecord, stagedUploads } from './records.ts';

interface Waiting {
  readonly bytes: number;
  start(): void;
}

export class Staging {
  readonly #staged: StagedBytes<StagingRecord>;
  /** Bytes handed to the store and not yet on disk: the store copies them, so they are bounded over all uploads. */
  #bytes = 0;
  readonly #waiting: Waiting[] = [];

  constructor(store: Store, log: Log) {
    this.#staged = new StagedBytes({ store, log, pieces: chunks, rows: stagedUploads });
  }

  /** A storage id that no chunk has. */
  claim(): number {
    return this.#staged.claim();
  }

  /** Writes one chunk; resolves when it is on disk. The bytes must not be touched before that. */
  async put(storageId: number, accountId: string, index: number, bytes: Uint8Array): Promise<void> {
    await this.#admit(bytes.length);
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

  /** Within a decision: the chunks belong to a blob from now on. False when they are not in the store yet. */
  adopt(batch: Batch, storageId: number): boolean {
    return this.#staged.adopt(batch, storageId);
  }

  /** Removes what was staged under an id; on a full disk it is tried again until it works. */
  discard(storageId: number): Promise<void> {
    return this.#staged.discard(storageId);
  }

  /** At start: removes what a crash left. Resolves with how many uploads that were. */
  sweep(): Promise<number> {
    return this.#staged.sweep();
  }

  /** In the order of the calls: a small last chunk that passed its first one would be on disk without a staging row. */
  #admit(bytes: number): Promise<void> | undefined {
    const fits = this.#bytes === 0 || this.#bytes + bytes <= limits.stagingBytesMax;
    if (fits && this.#waiting.length === 0) {
      this.#bytes += bytes;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push({ bytes, start: resolve }));
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    let next = this.#waiting[0];
    while (next !== undefined && (this.#bytes === 0 || this.#bytes + next.bytes <= limits.stagingBytesMax)) {
      this.#waiting.shift();
      this.#bytes += next.bytes;
      next.start();
      next = this.#waiting[0];
    }
  }
}
