/**
 * Calculates how many bytes the data file can still accept: the free space of the disk, the memory map and the file
 * itself, minus bytes being written and a reserve. Writes are refused before the disk is full, because a failed page
 * write can cost more than its commit: the store's library (lmdb 3.5.6) prints the error into too small a buffer, which
 * may crash the process.
 */
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';

interface RoomOptions {
  /** Bytes by which the file can grow, limited by the disk and the memory map. */
  readonly freeBytes: () => number;
  /** Unused bytes of the file, which are reused before it grows. Called only when the disk alone does not suffice. */
  readonly unusedBytes: () => number;
}

export class Room {
  readonly #options: RoomOptions;
  #takenBytes = 0;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Measures once; returns a check of how many bytes may be put. Removals need no check: they use the reserve. */
  look(): (bytes: number) => boolean {
    const onDisk = this.#onDisk();
    let inFile: number | undefined;
    return (bytes) => {
      if (bytes <= onDisk) return true;
      inFile ??= this.#options.unusedBytes();
      return bytes <= onDisk + inFile;
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
    return this.#options.freeBytes() - this.#takenBytes - limits.diskFreeBytesMin;
  }
}
