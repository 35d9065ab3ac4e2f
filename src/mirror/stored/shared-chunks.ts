/**
 * Keeps the chunks of blobs that were verified a moment ago. A chunk is sent in four turns, to several clients perhaps: it is
 * read and summed once for all of them. Pure.
 */
import { limits } from '../../limits/service.ts';

interface Kept {
  /** When its bytes were verified. */
  readonly sinceMs: number;
  readonly bytes: Uint8Array;
}

export class SharedChunks {
  /** By storage id and index, oldest first. */
  readonly #kept = new Map<string, Kept>();
  /** Memory of a chunk that is no longer kept. */
  #spare: Uint8Array[] = [];

  /** A chunk verified less than `sharedChunkMs` ago. The bytes are valid until the next `offer`. */
  find(storageId: number, index: number, nowMs: number): Uint8Array | undefined {
    const kept = this.#kept.get(nameOf(storageId, index));
    return kept !== undefined && isFresh(kept, nowMs) ? kept.bytes : undefined;
  }

  /** Called with the bytes of a chunk that was just verified. */
  offer(storageId: number, index: number, bytes: Uint8Array, nowMs: number): void {
    const name = nameOf(storageId, index);
    this.#drop(name);
    for (const [oldest] of this.#kept) {
      if (this.#kept.size < limits.sharedChunksMax) break;
      this.#drop(oldest);
    }
    this.#kept.set(name, { sinceMs: nowMs, bytes: this.#copyOf(bytes) });
  }

  /** Gives the memory back of what is kept no longer. */
  sweep(nowMs: number): void {
    for (const [name, kept] of this.#kept) if (!isFresh(kept, nowMs)) this.#kept.delete(name);
    this.#spare = [];
  }

  get size(): number {
    return this.#kept.size;
  }

  #drop(name: string): void {
    const { bytes } = this.#kept.get(name) ?? {};
    this.#kept.delete(name);
    if (bytes !== undefined && bytes.buffer.byteLength === limits.chunkBytes) this.#spare.push(bytes);
  }

  #copyOf(bytes: Uint8Array): Uint8Array {
    const spare = this.#spare.pop();
    const memory = spare === undefined ? new ArrayBuffer(limits.chunkBytes) : spare.buffer;
    const copy = new Uint8Array(memory, 0, bytes.length);
    copy.set(bytes);
    return copy;
  }
}

const nameOf = (storageId: number, index: number): string => `${storageId} ${index}`;

const isFresh = ({ sinceMs }: Kept, nowMs: number): boolean => nowMs - sinceMs < limits.sharedChunkMs;
