/**
 * Sends a body of known length while reading it: as much as the socket accepts, and more when it has room again.
 * Nothing is buffered here: bytes that did not fit are read again from the source. A stalled client is disconnected.
 */
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { AnswerSocket } from './answer-socket.ts';
import type { ByteSource } from './body.ts';
import type { SendPace } from './send-pace.ts';

const NOTHING = new Uint8Array(0);

export interface SourceSenderOptions {
  /** The receiver: an account, or an address. */
  readonly caller: string;
  readonly pace: SendPace;
  readonly onWhole: () => void;
  /** Called when the source could not be read. The connection is then closed. */
  readonly onBroken: (error: unknown) => void;
}

export class SourceSender {
  readonly #res: AnswerSocket;
  readonly #source: ByteSource;
  readonly #caller: string;
  readonly #pace: SendPace;
  readonly #onWhole: () => void;
  readonly #onBroken: (error: unknown) => void;
  #bytes = 0;
  #isOpen = true;
  /** True when the socket did not accept all bytes last offered. */
  #isBlocked = false;
  #offeredMs = performance.now();

  /** `onWhole` is called when the last byte was passed to the socket. */
  constructor(res: AnswerSocket, source: ByteSource, options: SourceSenderOptions) {
    this.#res = res;
    this.#source = source;
    this.#caller = options.caller;
    this.#pace = options.pace;
    this.#onWhole = options.onWhole;
    this.#onBroken = options.onBroken;
  }

  /** Bytes of the body sent so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Starts sending, within the cork of the head, so that head and first bytes share a packet when there is time. A
   * short body always does, like an answer without a stream: a separate head costs a system call, a packet and a turn
   * more.
   */
  start(): void {
    this.#res.onWritable((offset) => {
      this.#bytes = offset;
      this.#isBlocked = false;
      turns.push(this.#caller, this.#step);
      return true;
    });
    const mayBegin = this.#source.bytesTotal <= limits.sentWithHeadBytesMax || !turns.isOver;
    if (!mayBegin || this.#sendOnce()) turns.push(this.#caller, this.#step);
  }

  /** The exchange has ended, with or without success. */
  stop(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#source.close?.();
  }

  /**
   * The library drops a socket not writable for ten seconds, although a slow reader may still be reading bytes buffered
   * by the system. Offering the rest again restarts those ten seconds; the limit for slow readers is set here.
   */
  pushOn(nowMs: number): void {
    if (!this.#isOpen) return;
    if (this.#pace.isTooSlow(nowMs, this.#bytes)) this.#res.close();
    else if (this.#isBlocked && nowMs - this.#offeredMs >= limits.sendRetryMs) {
      this.#offeredMs = nowMs;
      turns.push(this.#caller, this.#retry);
    }
  }

  readonly #step = () => {
    if (!this.#isOpen) return;
    let more = false;
    this.#res.cork(() => {
      more = this.#sendOnce();
    });
    if (more) turns.push(this.#caller, this.#step);
  };

  /** Offers the rest again, in a turn: hundreds of readers may have stopped at the same time. */
  readonly #retry = () => {
    // Otherwise the socket became writable since, so the stream already waits for a turn.
    if (this.#isBlocked) this.#step();
  };

  /** Sends the bytes available from the source. Returns true when the socket accepted them all and more follow. */
  #sendOnce(): boolean {
    const total = this.#source.bytesTotal;
    const bytes = this.#read();
    if (bytes.length === 0) return false;
    const [taken, done] = this.#res.tryEnd(bytes, total);
    this.#isBlocked = !taken;
    if (done) {
      this.#bytes = total;
      this.#onWhole();
      return false;
    }
    this.#bytes = taken ? this.#bytes + bytes.length : this.#res.getWriteOffset();
    return taken;
  }

  /** A source that cannot be read closes the connection: half a body must not look complete. */
  #read(): Uint8Array {
    try {
      const bytes = this.#source.read(this.#bytes);
      if (bytes.length > 0) return bytes;
      throw new Error(`a source of ${this.#source.bytesTotal} bytes has none at ${this.#bytes}`);
    } catch (error) {
      this.#onBroken(error);
      this.#res.close();
      return NOTHING;
    }
  }
}
