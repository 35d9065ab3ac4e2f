/**
 * Owns how much the data file may still take: what the disk, the memory map and the file itself have free, less what is on its way and
 * a reserve. A write is refused before the disk is full, because a page that cannot be written costs more than its commit:
 * the store's library (lmdb 3.5.6) prints what failed into too small a buffer, and the process may die of that.
 */
import { Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';

interface RoomOptions {
  /** By how much the file can grow: what the disk and the memory map leave. */
  readonly freeBytes: () => number;
  /** Bytes of the file that hold nothing, which are written again before it grows; asked for only when it matters. */
  readonly unusedBytes: () => number;
}

export class Room {
  readonly #options: RoomOptions;
  #takenBytes = 0;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Looks once; gives whether so many bytes may be put. What only removes need not ask: the reserve is for that. */
  look(): (bytes: number) => boolean {
    const onDisk = this.#options.freeBytes() - this.#takenBytes - limits.diskFreeBytesMin;
    let inFile: number | undefined;
    return (bytes) => {
      if (bytes <= onDisk) return true;
      inFile ??= this.#options.unusedBytes();
      return bytes <= onDisk + inFile;
    };
  }

  /** Counts bytes that are on their way to the disk; gives what to call when they are there or lost. Refuses what has no room. */
  take(bytes: number): () => void {
    if (!this.look()(bytes)) throw new Refusal({ kind: 'storage_full' });
    this.#takenBytes += bytes;
    return () => {
      this.#takenBytes -= bytes;
    };
  }
}
