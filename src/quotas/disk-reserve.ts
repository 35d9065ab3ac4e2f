/** Owns when the disk counts as nearly full: what the file system, the memory map and the file itself still take. */
import { limits } from '../limits/service.ts';

interface DiskSpace {
  /** By how much the data file can grow, and how large it could ever be. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface DiskReserveOptions {
  readonly space: () => DiskSpace;
  /** Bytes inside the file that are written again before it grows; asked for only when it matters. */
  readonly unusedBytes: () => number;
  /** Milliseconds that never run backwards. */
  readonly elapsed: () => number;
}

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  #looked: { readonly atMs: number; readonly isFull: boolean } | undefined;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
  }

  /** Whether less than the reserved share is left. Looks at most every `diskLookedMs`. */
  isReached(): boolean {
    const atMs = this.#options.elapsed();
    if (this.#looked === undefined || atMs - this.#looked.atMs >= limits.diskLookedMs) {
      this.#looked = { atMs, isFull: this.#look() };
    }
    return this.#looked.isFull;
  }

  #look(): boolean {
    const { freeBytes, totalBytes } = this.#options.space();
    // Nobody writes into the last `diskFreeBytesMin`; the reserve lies above them.
    const reserved = totalBytes * limits.diskReservedShare + limits.diskFreeBytesMin;
    return freeBytes < reserved && freeBytes + this.#options.unusedBytes() < reserved;
  }
}
