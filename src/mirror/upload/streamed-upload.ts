/**
 * Streams one upload from the socket to the store: the body is cut into chunks, each hashed in the pool while the next
 * arrives, then staged.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Caller } from '../../common/shares.ts';
import type { BufferPool } from '../../http/request/buffers.ts';
import { limits } from '../../limits/service.ts';
import type { DigestMessage, DigestReturn, Digests } from '../../pool/jobs.ts';
import type { Pool } from '../../pool/pool.ts';
import type { UploadRoom } from './room.ts';
import type { Staging } from './staging.ts';

export interface UploadTools {
  readonly pool: Pool;
  readonly buffers: BufferPool;
  readonly staging: Staging;
  readonly room: UploadRoom;
}

export interface StreamedUploadOptions {
  readonly accountId: string;
  readonly hmacKey: Uint8Array;
  readonly caller: Caller;
  /** Reports the number of bytes on disk and no longer in memory. */
  readonly passOn: (bytes: number) => void;
  /** Called with the first error; nothing is accepted afterwards. */
  readonly onFailure: (error: Error) => void;
}

interface Chunk {
  readonly buffer: ArrayBuffer;
  readonly length: number;
}

export class StreamedUpload {
  readonly storageId: number;
  readonly #tools: UploadTools;
  readonly #accountId: string;
  readonly #passOn: (bytes: number) => void;
  readonly #onFailure: (error: Error) => void;
  readonly #port: MessagePort;
  readonly #digests: Promise<Digests | undefined>;
  /** Full chunks that are not in the pool yet: V8 collects garbage when many buffers come back from another thread. */
  readonly #full: Chunk[] = [];
  /** Lengths of the chunks in the pool, in sending order. */
  readonly #hashing: number[] = [];
  readonly #stagings = new Set<Promise<void>>();
  #buffer: ArrayBuffer | undefined;
  #filled = 0;
  #isWhole = false;
  #stagedChunks = 0;
  #failure: Error | undefined;
  #whenHashed: (() => void) | undefined;

  constructor(tools: UploadTools, { accountId, hmacKey, caller, passOn, onFailure }: StreamedUploadOptions) {
    this.#tools = tools;
    this.#accountId = accountId;
    this.#passOn = passOn;
    this.#onFailure = onFailure;
    this.storageId = tools.staging.claim();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: DigestReturn) => this.#stage(message.buffer));
    this.#digests = tools.pool.run('digestStream', { port: port2, hmacKey }, caller, [port2]);
    this.#digests.catch((error: Error) => this.#fail(error));
  }

  /** Accepts the next bytes. */
  write(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.length > 0) {
      this.#buffer ??= this.#tools.buffers.take();
      const part = rest.subarray(0, limits.chunkBytes - this.#filled);
      new Uint8Array(this.#buffer, this.#filled, part.length).set(part);
      this.#filled += part.length;
      rest = rest.subarray(part.length);
      if (this.#filled === limits.chunkBytes) this.#ship();
    }
  }

  /** Returns a promise while the sender should wait. */
  room(): Promise<void> | undefined {
    return this.#tools.room.wait(this.#accountId);
  }

  /** Call at the end of the body: resolves with the digests when every chunk is hashed and on disk. */
  async finish(): Promise<Digests> {
    if (this.#filled > 0) this.#ship();
    this.#isWhole = true;
    this.#hashNext();
    const digests = await this.#digests;
    await this.#settleStagings();
    this.#port.close();
    if (this.#failure !== undefined) throw this.#failure;
    if (digests === undefined) throw new Error('the digest job ended before the body did');
    return digests;
  }

  /** Cancels the upload and removes its staged chunks. */
  async abandon(): Promise<void> {
    this.#failure ??= new Error('the upload was aborted');
    this.#port.close();
    for (const length of this.#hashing.splice(0)) this.#tools.room.give(length);
    for (const { buffer, length } of this.#full.splice(0)) this.#release(buffer, length);
    await this.#digests.catch(() => undefined);
    await this.#settleStagings();
    if (this.#stagedChunks > 0) await this.#tools.staging.discard(this.storageId);
  }

  #ship(): void {
    const buffer = this.#buffer as ArrayBuffer;
    this.#full.push({ buffer, length: this.#filled });
    this.#tools.room.take(this.#filled);
    this.#buffer = undefined;
    this.#filled = 0;
    this.#hashNext();
  }

  /** Hands full chunks to the pool, and the end of the body after the last one. */
  #hashNext(): void {
    if (this.#failure !== undefined) return;
    while (this.#hashing.length < limits.chunksHashedAhead) {
      const chunk = this.#full.shift();
      if (chunk === undefined) break;
      this.#hashing.push(chunk.length);
      this.#send({ type: 'chunk', ...chunk }, [chunk.buffer]);
    }
    if (!this.#isWhole || this.#full.length > 0) return;
    this.#isWhole = false;
    this.#send({ type: 'end' });
  }

  #send(message: DigestMessage, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  /** Writes a hashed chunk to disk, then releases its buffer. */
  #stage(buffer: ArrayBuffer): void {
    const length = this.#hashing.shift() ?? 0;
    this.#hashNext();
    if (this.#failure !== undefined) {
      this.#release(buffer, length);
    } else {
      const index = this.#stagedChunks;
      this.#stagedChunks += 1;
      const write = this.#tools.staging
        .gather(this.storageId, this.#accountId, index, new Uint8Array(buffer, 0, length))
        .then(() => this.#passOn(length))
        .catch((error: Error) => this.#fail(error))
        .finally(() => {
          this.#stagings.delete(write);
          this.#release(buffer, length);
        });
      this.#stagings.add(write);
    }
    if (this.#hashing.length === 0) this.#whenHashed?.();
  }

  #release(buffer: ArrayBuffer, length: number): void {
    this.#tools.buffers.give(buffer);
    this.#tools.room.give(length);
  }

  async #settleStagings(): Promise<void> {
    if (this.#hashing.length > 0 && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#whenHashed = resolve;
      });
    }
    this.#tools.staging.hurry();
    while (this.#stagings.size > 0) await Promise.all(this.#stagings);
  }

  /** The digest job ends with its port. */
  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#port.close();
    this.#whenHashed?.();
    this.#onFailure(error);
  }
}
