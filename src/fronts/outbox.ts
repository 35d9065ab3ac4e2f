/** Batches what one thread sends another: one message a turn. Bytes are copied once, then transferred. */
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Place, Turn } from './messages.ts';

const FIRST_BYTES = 64 * 1024;

export class Outbox<Message> {
  readonly #port: Pick<MessagePort | Worker, 'postMessage'>;
  #messages: Message[] = [];
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;

  constructor(port: Pick<MessagePort | Worker, 'postMessage'>) {
    this.#port = port;
  }

  /** Queues a message. All queued messages are sent in order at the end of this turn. */
  add(message: Message): void {
    if (this.#messages.length === 0) setImmediate(() => this.flush());
    this.#messages.push(message);
  }

  /** Copies bytes to be sent along. The message with the returned place must be added in the same turn. */
  carry(bytes: Uint8Array): Place {
    const at = this.#used;
    const needed = at + bytes.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, at);
    this.#used = needed;
    return { at, length: bytes.length };
  }

  /** Sends the queued messages now. */
  flush(): void {
    if (this.#messages.length === 0) return;
    const bytes = this.#used === 0 ? undefined : this.#bytes.buffer.slice(0, this.#used);
    const turn: Turn<Message> = { messages: this.#messages, bytes };
    this.#messages = [];
    this.#used = 0;
    if (this.#bytes.length > FIRST_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#port.postMessage(turn, bytes === undefined ? [] : [bytes]);
  }
}

const NOTHING = new Uint8Array(0);

/** The bytes at a place of a turn's message. */
export function bytesAt({ bytes }: Turn<unknown>, place: Place | undefined): Uint8Array {
  if (place === undefined || bytes === undefined) return NOTHING;
  return new Uint8Array(bytes, place.at, place.length);
}
