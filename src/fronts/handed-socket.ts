/**
 * Represents, on the hub thread, the connection of one request handed over by a front. Calls of the exchange become
 * messages to the front; events of the connection are passed to the exchange.
 */
import type { AnswerSocket } from '../http/reply/answer-socket.ts';
import { limits } from '../limits/service.ts';
import type { AnswerPart } from './messages.ts';

type Send = (part: Omit<AnswerPart, 'kind' | 'id' | 'bytes'>, bytes?: Uint8Array) => void;

export class HandedSocket implements AnswerSocket {
  readonly #send: Send;
  readonly #onOver: () => void;
  #status: string | undefined;
  #headers: string[] = [];
  #pauses = false;
  /** Bytes of the body sent to the front, and how many of them the connection has accepted. */
  #written = 0;
  #taken = 0;
  /** Length of the body; 0 while unknown. */
  #bytesTotal = 0;
  #isBlocked = false;
  #isOver = false;
  #whenWritable: (offset: number) => boolean = () => true;
  #whenAborted: () => void = () => undefined;
  #whenData: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;

  /** `onOver` is called when the answer is complete or the connection is gone. */
  constructor(send: Send, onOver: () => void) {
    this.#send = send;
    this.#onOver = onOver;
  }

  cork(run: () => void): void {
    run();
  }

  writeStatus(status: string): void {
    this.#status = status;
  }

  writeHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  pause(): void {
    this.#pauses = true;
  }

  end(body?: string | Uint8Array, closes = false): void {
    const how = body === undefined ? 'last' : 'whole';
    this.#finish({ how, closes, pauses: this.#pauses }, typeof body === 'string' ? Buffer.from(body) : body);
  }

  endWithoutBody(): void {
    this.#finish({ how: 'bare', pauses: this.#pauses });
  }

  write(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    this.#put({ how: 'chunk' }, bytes);
    this.#written += bytes.length;
    return this.#hasRoom();
  }

  /**
   * Accepts what the window has room for. A long answer keeps its last byte back until the connection has accepted all
   * others, so the exchange counts as a stream, and its pace is watched, until the client has taken it.
   */
  tryEnd(chunk: Uint8Array, bytesTotal: number): [taken: boolean, done: boolean] {
    if (this.#isBlocked || this.#isOver) return [false, false];
    if (this.#written === 0 && chunk.length === bytesTotal && bytesTotal <= limits.sentWithHeadBytesMax) {
      this.end(chunk);
      return [true, true];
    }
    this.#bytesTotal = bytesTotal;
    if (this.#isLastByteNext) {
      this.#finish({ how: 'piece', bytesTotal }, chunk);
      return [true, true];
    }
    const room = Math.min(limits.handedBytesAhead - this.#bytesAhead, bytesTotal - 1 - this.#written);
    const part = chunk.subarray(0, room);
    this.#put({ how: 'piece', bytesTotal }, part);
    this.#written += part.length;
    return [this.#hasRoom() && part.length === chunk.length, false];
  }

  getWriteOffset(): number {
    return this.#written;
  }

  close(): void {
    if (this.#isOver) return;
    this.#finish({ how: 'close' });
    this.#whenAborted();
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#whenWritable = handler;
  }

  onAborted(handler: () => void): void {
    this.#whenAborted = handler;
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.#whenData = handler;
  }

  /** Passes the next bytes of the body to the exchange. */
  receive(bytes: Uint8Array, isLast: boolean): void {
    this.#whenData?.(bytes.slice().buffer, isLast);
  }

  /** Counts `bytes` more as accepted by the connection. */
  advance(bytes: number): void {
    this.#taken += bytes;
    const bytesAheadMax = this.#isLastByteNext ? 0 : limits.handedBytesAhead / 2;
    if (!this.#isBlocked || this.#bytesAhead > bytesAheadMax) return;
    this.#isBlocked = false;
    this.#whenWritable(this.#written);
  }

  /** Ends the exchange, because the connection was closed. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    this.#whenAborted();
  }

  #hasRoom(): boolean {
    this.#isBlocked = this.#isLastByteNext || this.#bytesAhead >= limits.handedBytesAhead;
    return !this.#isBlocked;
  }

  get #bytesAhead(): number {
    return this.#written - this.#taken;
  }

  get #isLastByteNext(): boolean {
    return this.#written === this.#bytesTotal - 1;
  }

  #finish(part: Omit<AnswerPart, 'kind' | 'id' | 'bytes'>, bytes?: Uint8Array): void {
    if (this.#isOver) return;
    this.#put(part, bytes);
    this.#isOver = true;
    this.#onOver();
  }

  /** Sends a part; the first one includes the status line and the headers. */
  #put(part: Omit<AnswerPart, 'kind' | 'id' | 'bytes'>, bytes?: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#status === undefined) this.#send(part, bytes);
    else this.#send({ ...part, status: this.#status, headers: this.#headers }, bytes);
    this.#status = undefined;
    this.#headers = [];
  }
}
