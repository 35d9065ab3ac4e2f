/**
 * Calculates how many bytes the data file can still accept: the free space of the disk, the memory map and the file
 * itself, minus bytes being written and a reserve. Writes are refused before the disk is full, because a failed page
 * write can cost more than its commit: the store's library (lmdb 3.5.6) prints the error into too small a buffer, which
 * may crash the process. Far from that, a look at the disk counts for a moment: two system calls for each commit and
 * each chunk of an upload cost more than the check is worth there.
 */
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';

interface RoomOptions {
  /** Bytes by which the file can grow, limited by the disk and the memory map. */
  readonly freeBytes: () => number;
  /** Unused bytes of the file, which are reused before it grows. Called only when the disk alone does not suffice. */
  readonly unusedBytes: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
}

export class Room {
  /** Called each time that bytes find no room, possibly within a decision. */
  onRefused: () => void = () => undefined;
  readonly #options: RoomOptions;
  #takenBytes = 0;
  /** The last look, and when it was. */
  #freeBytes = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Measures at most once; returns a check of how many bytes may be put. Removals need no check: they use the reserve. */
  look(): (bytes: number) => boolean {
    const onDisk = this.#onDisk();
    let inFile: number | undefined;
    return (bytes) => {
      if (bytes <= onDisk) return true;
      inFile ??= this.#options.unusedBytes();
      if (bytes <= onDisk + inFile) return true;
      this.onRefused();
      return false;
    };
  }

  /** Bytes that may be put; less than 0 when the reserve is used. At least so many if `enough` or more are returned. */
  usableBytes(enough: number): number {
    const onDisk = this.#onDisk();
    return onDisk >= enough ? onDisk : onDisk + this.#options.unusedBytes();
  }

  /** Reserves room for bytes being written. Returns its release function. Throws Refusal `storage_full`. */
  take(bytes: number): () => void {
    if (!this.look()(bytes)) throw new Refusal({ kind: 'storage_full' });
    this.#takenBytes += bytes;
    return () => {
      this.#takenBytes -= bytes;
    };
  }

  #onDisk(): number {
    return this.#free() - this.#takenBytes - limits.diskFreeBytesMin;
  }

  /** What is free now; or was a moment ago, when that was more than all writers of the disk can have put since. */
  #free(): number {
    const nowMs = this.#options.elapsed();
    if (this.#freeBytes >= limits.diskPlentyBytes && nowMs - this.#lookedMs < limits.diskLookMs) return this.#freeBytes;
    this.#freeBytes = this.#options.freeBytes();
    this.#lookedMs = nowMs;
    return this.#freeBytes;
  }
}
