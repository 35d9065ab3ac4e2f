/**
 * Owns spare buffers of one size, so that a steady flow of uploads allocates and zeroes none: memory that was touched before
 * takes bytes several times faster than new memory. What a quiet while did not need is let go.
 */
import { limits } from '../limits/service.ts';

export class BufferPool {
  readonly #bufferBytes: number;
  readonly #spare: ArrayBuffer[] = [];
  /** The fewest spares since the last trim: nobody needed those. */
  #unused = 0;
  readonly #trimmer: NodeJS.Timeout;

  constructor(bufferBytes: number) {
    this.#bufferBytes = bufferBytes;
    this.#trimmer = setInterval(() => this.#trim(), limits.spareTrimMs);
    this.#trimmer.unref();
  }

  /** A buffer of the pool's size; its content is whatever the last user left. */
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
