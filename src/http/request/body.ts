/**
 * Owns the bytes of one request body while they arrive: counts them against the bound and hands them on. Chunks are the
 * HTTP library's memory and gone when its callback returns, so takers copy. There is no pause: the library reads a paused
 * socket on for as long as the sender is as fast, and drops it after ten seconds; what bounds memory is admission.
 */
import { type Fault, Refusal } from '../../common/fault.ts';
import type { Lease } from '../../common/shares.ts';
import { limits } from '../../limits/service.ts';

/** Takes a body as it arrives: copies the bytes, and may throw to refuse. */
export type BodySink = (bytes: Uint8Array) => void;

export class IncomingBody {
  readonly #bytesMax: number;
  readonly #lease: Lease | undefined;
  readonly #bytesExpected: number;
  #sink: BodySink | undefined;
  #early: Uint8Array[] = [];
  #bytes = 0;
  #bytesPassedOn = 0;
  #ended = false;
  #failure: Error | undefined;
  #settle: { resolve(): void; reject(error: Error): void } | undefined;

  /** `lease`: the part of the bytes in flight that covers what has arrived and is still in memory. */
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

  /** Hands the body to a sink; resolves at its end, rejects with the refusal that cut it off. */
  pipe(sink: BodySink): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#settle = { resolve, reject };
      this.#sink = sink;
      const early = this.#early;
      this.#early = [];
      for (const bytes of early) this.#deliver(bytes);
      if (this.#ended && this.#failure === undefined) resolve();
    });
  }

  /** The whole body in memory, in the parts in which it came; for bodies whose bound is small. */
  async collect(): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    await this.pipe((bytes) => {
      parts.push(Buffer.from(bytes));
    });
    return parts;
  }

  /** From the socket: the next bytes, and whether they are the last. */
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
      this.#fail(error as Error);
      return;
    }
    if (isLast) this.#ended = true;
    if (this.#sink !== undefined) this.#deliver(bytes);
    else if (bytes.length > 0) this.#early.push(Uint8Array.from(bytes));
    if (isLast && this.#failure === undefined) this.#settle?.resolve();
  }

  /** Says that so many of the bytes that arrived are no longer in memory. */
  passOn(bytes: number): void {
    this.#bytesPassedOn += bytes;
    if (this.#failure === undefined) this.#lease?.hold(this.#bytesHeld());
  }

  /** What is in memory, and what may arrive next before anybody looks. */
  #bytesHeld(isWhole = this.#ended): number {
    const next = isWhole ? 0 : limits.bodyBytesAhead;
    return Math.max(0, Math.min(this.#bytes + next, this.#bytesExpected) - this.#bytesPassedOn);
  }

  /** Gives back what the lease covers, when nothing holds the bytes any more. */
  release(): void {
    this.#lease?.release();
  }

  /** Cuts the body off; whoever reads it is told why. */
  fail(fault: Fault): void {
    this.#fail(new Refusal(fault));
  }

  #deliver(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#failure !== undefined) return;
    try {
      this.#sink?.(bytes);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#early = [];
    this.#settle?.reject(error);
  }
}

/** Parts that follow each other as one; a single part is not copied. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** The body of a request whose route takes none. */
export function noBody(): IncomingBody {
  const body = new IncomingBody(0);
  body.receive(new Uint8Array(0), true);
  return body;
}
