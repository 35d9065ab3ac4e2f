/**
 * Keeps spare buffers of one size, so that a steady flow of bodies allocates and zeroes none: writing to memory that
 * was touched before is several times faster than writing to new memory. Spares unused for a while are freed.
 */
import { limits } from '../../limits/service.ts';

export class BufferPool {
  readonly #bufferBytes: number;
  readonly #spare: ArrayBuffer[] = [];
  /** The smallest number of spares since the last trim: these were not needed. */
  #unused = 0;
  readonly #trimmer: NodeJS.Timeout;

  constructor(bufferBytes: number) {
    this.#bufferBytes = bufferBytes;
    this.#trimmer = setInterval(() => this.#trim(), limits.spareTrimMs);
    this.#trimmer.unref();
  }

  /** Returns a buffer of the pool's size. It still contains the bytes of its last use. */
  take(): ArrayBuffer {
    const buffer = this.#spare.pop() ?? new ArrayBuffer(this.#bufferBytes);
    this.#unused = Math.min(this.#unused, this.#spare.length);
    return buffer;
  }

  give(buffer: ArrayBuffer): void {
    if (buffer.byteLength === this.#bufferBytes && this.#spare.length < limits.spareBuffersMax)
      this.#spare.push(buffer);
  }

  #trim(): void {
    this.#spare.splice(0, this.#unused);
    this.#unused = this.#spare.length;
  }
}
