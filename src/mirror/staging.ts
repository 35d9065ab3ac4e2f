/**
 * Owns chunks that belong to no blob yet. The first chunk lands together with a staging row; publishing removes the row
 * and giving up removes both, so a row that a start finds is what a crash left, and is swept.
 */

import { limits } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import { chunks, staging } from './records.ts';

interface Waiting {
  readonly bytes: number;
  start(): void;
}

export class Staging {
  readonly #store: Store;
  readonly #log: Log;
  #nextId: number;
  /** Bytes handed to the store and not yet on disk: the store copies them, so they are bounded over all uploads. */
  #bytes = 0;
  readonly #waiting: Waiting[] = [];
  /** Discards that failed because the disk was full, by storage id. */
  readonly #undiscarded = new Set<number>();
  #retry: NodeJS.Timeout | undefined;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#nextId = Math.max(store.lastKey(chunks)?.[0] ?? 0, store.lastKey(staging)?.[0] ?? 0) + 1;
  }

  /** A storage id that no chunk has. */
  claim(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** Writes one chunk; resolves when it is on disk. The bytes must not be touched before that. */
  async put(storageId: number, accountId: string, index: number, bytes: Uint8Array): Promise<void> {
    await this.#admit(bytes.length);
    try {
      const chunk = { table: chunks, key: [storageId, index], bytes };
      if (index > 0) {
        await this.#store.writeBytes([chunk]);
        return;
      }
      const row = staging.codec.encode({ account_id: accountId, started_at: new Date().toISOString() });
      await this.#store.writeBytes([{ table: staging, key: [storageId], bytes: row }, chunk]);
    } finally {
      this.#release(bytes.length);
    }
  }

  /** Within a decision: the chunks belong to a blob from now on. False when they are not in the store yet. */
  adopt(batch: Batch, storageId: number): boolean {
    if (batch.get(staging, [storageId]) === undefined) return false;
    batch.remove(staging, [storageId]);
    return true;
  }

  /** Removes what was staged under an id; on a full disk it is tried again until it works. */
  async discard(storageId: number): Promise<void> {
    try {
      await this.#remove(storageId);
      this.#undiscarded.delete(storageId);
    } catch (error) {
      this.#undiscarded.add(storageId);
      this.#log.warn({ err: error }, 'staged bytes could not be removed yet');
      if (this.#retry === undefined) {
        this.#retry = setTimeout(() => void this.#discardAgain(), limits.discardRetryMs).unref();
      }
    }
  }

  /** At start: removes what a crash left. Returns how many uploads that were. */
  async sweep(): Promise<number> {
    const left = [...this.#store.keys(staging)];
    for (const [storageId] of left) {
      await this.#remove(storageId);
    }
    return left.length;
  }

  /**
   * First the chunks, then the row: what a commit frees may be used again only behind the commit that follows it, and on
   * a full disk no other might follow.
   */
  async #remove(storageId: number): Promise<void> {
    await this.#store.write((batch) => {
      // Keys only: reading the chunks just to remove them would copy every byte.
      for (const key of this.#store.keys(chunks, [storageId])) batch.remove(chunks, key);
    });
    await this.#store.write((batch) => batch.remove(staging, [storageId]));
  }

  async #discardAgain(): Promise<void> {
    this.#retry = undefined;
    // A copy: a discard that fails again puts its id back.
    for (const storageId of Array.from(this.#undiscarded)) await this.discard(storageId);
  }

  #admit(bytes: number): Promise<void> | undefined {
    if (this.#bytes === 0 || this.#bytes + bytes <= limits.stagingBytesMax) {
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
