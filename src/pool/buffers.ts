/** Owns spare chunk buffers, so that a steady flow of uploads allocates and zeroes none. */
import { limits } from '../limits.ts';

export class BufferPool {
  readonly #spare: ArrayBuffer[] = [];

  /** A buffer of `chunkBytes`; its content is whatever the last user left. */
  take(): ArrayBuffer {
    return this.#spare.pop() ?? new ArrayBuffer(limits.chunkBytes);
  }

  give(buffer: ArrayBuffer): void {
    if (buffer.byteLength === limits.chunkBytes && this.#spare.length < limits.spareBuffersMax)
      this.#spare.push(buffer);
  }
}
