/**
 * Decides when the disk counts as nearly full, from the free space of the file system, the memory map and the data
 * file.
 */
import { limits } from '../limits/service.ts';

interface DiskSpace {
  /** How far the data file can still grow, and its largest possible size. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface DiskReserveOptions {
  readonly space: () => DiskSpace;
  /** Reusable bytes inside the file, written before it grows. Called only when the result depends on them. */
  readonly unusedBytes: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
}

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  #looked: { readonly atMs: number; readonly isFull: boolean } | undefined;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
  }

  /** True when less than the reserved share is free. Reads the free space at most every `diskLookedMs`. */
  isReached(): boolean {
    const atMs = this.#options.elapsed();
    if (this.#looked === undefined || atMs - this.#looked.atMs >= limits.diskLookedMs) {
      this.#looked = { atMs, isFull: this.#look() };
    }
    return this.#looked.isFull;
  }

  #look(): boolean {
    const { freeBytes, totalBytes } = this.#options.space();
    // The last `diskFreeBytesMin` are never written; the reserve is above them.
    const reserved = totalBytes * limits.diskReservedShare + limits.diskFreeBytesMin;
    return freeBytes < reserved && freeBytes + this.#options.unusedBytes() < reserved;
  }
}
