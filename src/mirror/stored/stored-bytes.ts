/** Reads the stored bytes of a blob, checked against its SHA-256, so that damage never passes for the blob. */
import { createHash, hash as hashOf } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { Recent } from '../../cache/recent.ts';
import { Refusal } from '../../common/fault.ts';
import type { ByteSource } from '../../http/reply/body.ts';
import { limits } from '../../limits/service.ts';
import type { Damage } from '../../store/data-file/damage.ts';
import type { Store } from '../../store/store.ts';
import type { BlobRecord } from '../declared.ts';
import { chunks } from '../records.ts';
import { SharedChunks } from './shared-chunks.ts';

/** A blob and its name within an account. */
export interface NamedBytes {
  readonly commitSha: string;
  readonly sha256: string;
  readonly record: Pick<BlobRecord, 'storage_id' | 'byte_size'>;
}

export class StoredBytes {
  readonly #store: Store;
  readonly #damage: Damage;
  /** Time of the last successful check by storage id, in milliseconds of `performance.now()`; oldest first. */
  readonly #whole = new Map<number, number>();
  /**
   * CRC-32 of each chunk of blobs with a verified SHA-256, by storage id: a third of the cost of hashing again. It detects
   * accidental damage; an attacker able to forge stored bytes could also replace the stored digest.
   */
  readonly #sums = new Recent<readonly number[]>(limits.blobSumsMax);
  readonly #shared = new SharedChunks();
  #sweeper: NodeJS.Timeout | undefined;
  /** Verified bytes of small blobs sent recently, by storage id. */
  readonly #recent = new Recent<Uint8Array>(limits.blobBytesRememberedMax);

  /** Storage ids of removed blobs: a download that is under way ends, and its missing bytes are no damage. */
  readonly #removed = new Recent<true>(limits.blobSumsMax);

  constructor(store: Store, damage: Damage) {
    this.#store = store;
    this.#damage = damage;
  }

  /**
   * Returns the bytes of a blob of at most `smallBlobBytesMax`. Those sent recently are in memory; the stored ones are
   * then only compared with them, which costs less than a sum.
   * @throws Refusal `damaged`
   */
  small(blob: NamedBytes): Uint8Array {
    const id = String(blob.record.storage_id);
    const stored = this.#at(blob, 0, blob.record.byte_size, limits.smallBlobBytesMax);
    const recent = this.#recent.get(id);
    if (recent !== undefined) {
      if (Buffer.compare(stored, recent) !== 0) throw this.#damaged(blob);
      return recent;
    }
    const known = this.#sums.get(id);
    const sum = crc32(stored);
    this.#note(blob, known === undefined ? hashOf('sha256', stored) === blob.sha256 : sum === known[0], [sum]);
    // A copy: the next read overwrites the view.
    const bytes = Uint8Array.from(stored);
    this.#recent.set(id, bytes, bytes.length);
    return bytes;
  }

  /**
   * Returns a whole blob, verified while it is sent: by its hash, when it is sent for the first time since the start, and
   * the last bytes are returned only when all of them are correct; later each chunk by its sum, before any of its bytes.
   * `read` throws Refusal `damaged`.
   */
  whole(blob: NamedBytes): ByteSource {
    const sums = this.#sums.get(String(blob.record.storage_id));
    return sums === undefined ? this.#hashed(blob) : this.#summed(blob, sums);
  }

  #hashed(blob: NamedBytes): ByteSource {
    const total = blob.record.byte_size;
    const hash = createHash('sha256');
    const sums: number[] = [];
    let checked = 0;
    return {
      bytesTotal: total,
      read: (offset) => {
        const bytes = this.#at(blob, offset, total, limits.hashedTurnBytes);
        const end = offset + bytes.length;
        // Bytes not accepted by the socket are read again.
        if (end > checked) {
          const further = bytes.subarray(checked - offset);
          const index = Math.floor(checked / limits.chunkBytes);
          hash.update(further);
          sums[index] = crc32(further, sums[index] ?? 0);
          checked = end;
          if (end === total) this.#note(blob, hash.digest('hex') === blob.sha256, sums);
        }
        return bytes;
      },
    };
  }

  #summed(blob: NamedBytes, sums: readonly number[]): ByteSource {
    const { storage_id: id, byte_size: total } = blob.record;
    let checked = -1;
    return {
      bytesTotal: total,
      read: (offset) => {
        const index = Math.floor(offset / limits.chunkBytes);
        const from = offset % limits.chunkBytes;
        const nowMs = performance.now();
        const shared = this.#shared.find(id, index, nowMs);
        if (shared !== undefined) return shared.subarray(from, from + limits.sentTurnBytes);
        const chunk = this.#at(blob, offset - from, total, limits.chunkBytes);
        if (index > checked) {
          if (crc32(chunk) !== sums[index]) throw this.#damaged(blob);
          checked = index;
          this.#shared.offer(id, index, chunk, nowMs);
          this.#sweepLater();
        }
        return chunk.subarray(from, from + limits.sentTurnBytes);
      },
    };
  }

  #sweepLater(): void {
    if (this.#sweeper !== undefined) return;
    this.#sweeper = setTimeout(() => {
      this.#sweeper = undefined;
      this.#shared.sweep(performance.now());
      if (this.#shared.size > 0) this.#sweepLater();
    }, limits.sharedSweepMs).unref();
  }

  /** Returns a part of a blob that passed `check`. */
  part(blob: NamedBytes, start: number, end: number): ByteSource {
    return { bytesTotal: end - start, read: (offset) => this.#at(blob, start + offset, end, limits.sentTurnBytes) };
  }

  /**
   * Throws Refusal `damaged` when the SHA-256 of the whole blob differs. Reads in short turns. A blob checked within
   * `wholeBlobMs` is not read again: a client requesting many parts pays for one check.
   */
  async check(blob: NamedBytes): Promise<void> {
    const { storage_id: id } = blob.record;
    const found = this.#whole.get(id);
    if (found !== undefined && performance.now() - found < limits.wholeBlobMs) return;
    this.#whole.delete(id);
    if (!(await this.isWhole(blob))) throw this.#damaged(blob);
    const [oldest] = this.#whole.keys();
    if (this.#whole.size >= limits.wholeBlobsMax && oldest !== undefined) this.#whole.delete(oldest);
    this.#whole.set(id, performance.now());
  }

  /** Called before the bytes of a removed blob go. */
  noteRemoved(storageId: number): void {
    this.#removed.set(String(storageId), true, 1);
  }

  /** True when the stored bytes match the blob's SHA-256. Reads in short turns. */
  isWhole({ sha256, record }: NamedBytes): Promise<boolean> {
    return isWholeBlob(this.#store, sha256, record);
  }

  /** Caches the sums of an undamaged blob. Throws Refusal `damaged` otherwise. */
  #note(blob: NamedBytes, isWhole: boolean, sums: readonly number[]): void {
    if (!isWhole) throw this.#damaged(blob);
    this.#sums.set(String(blob.record.storage_id), sums, sums.length);
  }

  #damaged({ commitSha, sha256, record }: NamedBytes) {
    // It was whole when a part of it was asked for last.
    this.#whole.delete(record.storage_id);
    return this.#damage.note('blob', { commit_sha: commitSha, sha256, storage_id: record.storage_id });
  }

  #at(blob: NamedBytes, start: number, end: number, bytesMax: number): Uint8Array {
    const bytes = readTurn(this.#store, blob.record, start, end, bytesMax);
    if (bytes !== undefined) return bytes;
    if (this.#removed.get(String(blob.record.storage_id)) === true)
      throw new Refusal({ kind: 'not_found', what: 'blob not found' });
    throw this.#damaged(blob);
  }
}

/** True when stored bytes match a SHA-256. Reads in short turns. */
export async function isWholeBlob(store: Store, sha256: string, record: NamedBytes['record']): Promise<boolean> {
  const hash = createHash('sha256');
  for (let at = 0; at < record.byte_size; ) {
    const bytes = readTurn(store, record, at, record.byte_size, limits.hashedTurnBytes);
    if (bytes === undefined) return false;
    hash.update(bytes);
    at += bytes.length;
    if (at < record.byte_size) await nextTurn();
  }
  return hash.digest('hex') === sha256;
}

/** Returns a view of the bytes from `start`, of one chunk and at most `bytesMax`; undefined when they are missing or damaged. */
function readTurn(
  store: Store,
  record: NamedBytes['record'],
  start: number,
  end: number,
  bytesMax: number,
): Uint8Array | undefined {
  const index = Math.floor(start / limits.chunkBytes);
  const chunk = store.view(chunks, [record.storage_id, index]);
  if (chunk?.length !== Math.min(limits.chunkBytes, record.byte_size - index * limits.chunkBytes)) return undefined;
  const from = start % limits.chunkBytes;
  return chunk.subarray(from, Math.min(chunk.length, from + end - start, from + bytesMax));
}
