/** Owns what one thread sends another: all of a turn in one message, whose bytes are copied once and then handed over. */
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

  /** Sends a message at the end of this turn, after all that were added before. */
  add(message: Message): void {
    if (this.#messages.length === 0) setImmediate(() => this.flush());
    this.#messages.push(message);
  }

  /** Takes a copy of bytes along with the message that names their place, which must be added in the same turn. */
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

  /** Sends now what was added. */
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

/** The bytes of a message of a turn. */
export function bytesAt({ bytes }: Turn<unknown>, place: Place | undefined): Uint8Array {
  if (place === undefined || bytes === undefined) return NOTHING;
  return new Uint8Array(bytes, place.at, place.length);
}
