/**
 * Owns the pieces of long contents that belong to no version yet. The first piece lands together with a staging row; the
 * decision that adopts them removes the row, so a row that a start finds is what a crash left, and is swept.
 */
import { limits } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import { pieces, staging } from './records.ts';

export class PieceStaging {
  readonly #store: Store;
  readonly #log: Log;
  #nextId: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** Discards that failed because the disk was full, by storage id. */
  readonly #undiscarded = new Set<number>();
  #retry: NodeJS.Timeout | undefined;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#nextId = Math.max(store.lastKey(pieces)?.[0] ?? 0, store.lastKey(staging)?.[0] ?? 0) + 1;
  }

  /** Runs one of a bounded number of long pushes; the others wait for their turn, so that memory is bounded. */
  async turn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running >= limits.longPushesMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
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
    const storageId = this.#nextId;
    this.#nextId += 1;
    try {
      const row = staging.codec.encode({ started_at: new Date().toISOString() });
      const claim = { table: staging, key: [storageId], bytes: row };
      for (let index = 0; index * limits.pieceBytes < bytes.length; index += 1) {
        const piece = bytes.subarray(index * limits.pieceBytes, (index + 1) * limits.pieceBytes);
        const put = { table: pieces, key: [storageId, index], bytes: piece };
        await this.#store.writeBytes(index === 0 ? [claim, put] : [put]);
      }
      return storageId;
    } catch (error) {
      await this.discard(storageId);
      throw error;
    }
  }

  /** Within a decision: the pieces belong to what this decision writes. */
  adopt(batch: Batch, storageId: number): void {
    batch.remove(staging, [storageId]);
  }

  /** Removes what was staged under an id; on a full disk it is tried again until it works. */
  async discard(storageId: number): Promise<void> {
    try {
      await this.#remove(storageId);
      this.#undiscarded.delete(storageId);
    } catch (error) {
      this.#undiscarded.add(storageId);
      this.#log.warn({ err: error }, 'staged pieces could not be removed yet');
      if (this.#retry === undefined) {
        this.#retry = setTimeout(() => void this.#discardAgain(), limits.stagingRetryMs).unref();
      }
    }
  }

  /** At start: removes what a crash left. Returns how many contents that were. */
  async sweep(): Promise<number> {
    const left = [...this.#store.keys(staging)];
    for (const [storageId] of left) await this.#remove(storageId);
    return left.length;
  }

  /** First the pieces, then the row: a crash between the two is swept like any other. */
  async #remove(storageId: number): Promise<void> {
    await this.#store.write((batch) => {
      for (const key of this.#store.keys(pieces, [storageId])) batch.remove(pieces, key);
    });
    await this.#store.write((batch) => batch.remove(staging, [storageId]));
  }

  async #discardAgain(): Promise<void> {
    this.#retry = undefined;
    // A copy: a discard that fails again puts its id back.
    for (const storageId of Array.from(this.#undiscarded)) await this.discard(storageId);
  }
}
