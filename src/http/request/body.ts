/**
 * Receives the bytes of one request body, enforces its size limit and passes them to a sink. Chunks are memory of the
 * HTTP library, valid only during its callback, so sinks copy. A sink without room makes the socket wait
 * (read-body.ts). The library still reads bytes that have arrived, so admission bounds the memory.
 */

import { type Fault, Refusal } from '../../common/fault.ts';
import type { Lease } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';
import { BufferPool } from './buffers.ts';

/** Receives a body as it arrives: copies the bytes, and may throw to refuse. */
export type BodySink = (bytes: Uint8Array) => void;

export class IncomingBody {
  readonly #bytesMax: number;
  readonly #lease: Lease | undefined;
  readonly #bytesExpected: number;
  #sink: BodySink | undefined;
  #roomOf: (() => Promise<void> | undefined) | undefined;
  #early: Uint8Array[] = [];
  #bytes = 0;
  #bytesPassedOn = 0;
  #ended = false;
  #failure: Error | undefined;
  #settle: { resolve(): void; reject(error: Error): void } | undefined;

  /** `lease`: the share of the bytes in flight that covers the received bytes still in memory. */
  constructor(bytesMax: number, lease?: Lease, bytesDeclared = bytesMax) {
    this.#bytesMax = bytesMax;
    this.#lease = lease;
    this.#bytesExpected = Math.min(bytesDeclared, bytesMax);
  }

  /** Bytes received so far. */
  get bytes(): number {
    return this.#bytes;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** A promise while the sink has no room for further bytes. */
  get room(): Promise<void> | undefined {
    return this.#ended || this.#failure !== undefined ? undefined : this.#roomOf?.();
  }

  /**
   * Passes the body to a sink. Resolves at its end, rejects with the refusal that cut it off. `roomOf`: returns a promise
   * while the sink should get no further bytes; a few may arrive nevertheless.
   */
  pipe(sink: BodySink, roomOf?: () => Promise<void> | undefined): Promise<void> {
    return this.#pipe(undefined, sink, roomOf);
  }

  /** As `pipe`, resolving with `made`. */
  #pipe<T>(made: T, sink: BodySink, roomOf?: () => Promise<void> | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#settle = { resolve: () => resolve(made), reject };
      this.#sink = sink;
      this.#roomOf = roomOf;
      const early = this.#early;
      this.#early = [];
      for (const bytes of early) this.#deliver(bytes);
      if (this.#ended && this.#failure === undefined) resolve(made);
    });
  }

  /** Reads the whole body into memory, in the parts received. For bodies with a small limit. */
  collect(): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    return this.#pipe(parts, (bytes) => {
      parts.push(copyOf(bytes));
    });
  }

  /** Receives the next bytes from the socket, and whether they are the last. */
  receive(bytes: Uint8Array, isLast: boolean): void {
    if (this.#failure !== undefined) return;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#bytesMax) {
      this.fail({ kind: 'body_too_large', bytesMax: this.#bytesMax });
      return;
    }
    try {
      this.#lease?.hold(this.#bytesHeld(isLast));
    } catch (error) {
      this.cutOff(error as Error);
      return;
    }
    if (isLast) this.#ended = true;
    if (this.#sink !== undefined) this.#deliver(bytes);
    else if (bytes.length > 0) this.#early.push(new Uint8Array(bytes));
    if (isLast && this.#failure === undefined) this.#settle?.resolve();
  }

  /** Reports that `bytes` of the received bytes are no longer in memory. */
  passOn(bytes: number): void {
    this.#bytesPassedOn += bytes;
    if (this.#failure === undefined) this.#lease?.hold(this.#bytesHeld());
  }

  /** Bytes in memory, and those that may arrive before the next check. */
  #bytesHeld(isWhole = this.#ended): number {
    const next = isWhole ? 0 : limits.bodyBytesAhead;
    return Math.max(0, Math.min(this.#bytes + next, this.#bytesExpected) - this.#bytesPassedOn);
  }

  /** Releases the lease when nothing uses the bytes any more. */
  release(): void {
    this.#lease?.release();
  }

  /** Cuts the body off; the reader gets the fault. */
  fail(fault: Fault): void {
    this.cutOff(new Refusal(fault));
  }

  /** Like `fail`, for any error. What was received is let go: the exchange may last until the rest was discarded. */
  cutOff(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#early = [];
    this.#settle?.reject(error);
    this.#settle = undefined;
    this.#sink = undefined;
    this.#roomOf = undefined;
  }

  #deliver(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#failure !== undefined) return;
    try {
      this.#sink?.(bytes);
    } catch (error) {
      this.cutOff(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** Buffers for the parts of large bodies. Whoever no longer uses such a part gives its buffer back. */
export const partBuffers = new BufferPool(limits.readBytesMax);

function copyOf(bytes: Uint8Array): Uint8Array {
  const isFull = bytes.length === limits.readBytesMax;
  const copy = isFull ? new Uint8Array(partBuffers.take()) : Buffer.allocUnsafe(bytes.length);
  copy.set(bytes);
  return copy;
}

/** Joins consecutive parts. A single part is not copied. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** Buffers that contain exactly one part and can be transferred to a thread. Small parts share a buffer. */
export function wholeBuffers(parts: readonly Uint8Array[]): ArrayBuffer[] {
  return parts.filter((part) => part.length === part.buffer.byteLength).map(({ buffer }) => buffer as ArrayBuffer);
}

/** The empty body of a request whose route accepts none. */
export function noBody(): IncomingBody {
  const body = new IncomingBody(0);
  body.receive(new Uint8Array(0), true);
  return body;
}
