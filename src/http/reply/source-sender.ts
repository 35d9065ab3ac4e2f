/**
 * Owns how a body of known length goes out while it is read: as much as the socket takes, and on when it has room again.
 * Nothing is buffered here: bytes that did not fit are read again from the source. A client that hardly takes anything
 * is given up.
 */
import { limits } from '../../limits/service.ts';
import type { AnswerSocket } from './answer-socket.ts';
import type { ByteSource } from './body.ts';
import type { SendPace } from './send-pace.ts';
import type { SendStep, SendTurns } from './send-turns.ts';

const NOTHING = new Uint8Array(0);
const NOTHING_SENT = { bytes: 0, more: false };

export interface SourceSenderOptions {
  /** Whom it is sent to: an account, or an address. */
  readonly caller: string;
  readonly turns: SendTurns;
  readonly pace: SendPace;
  readonly onWhole: () => void;
  /** The source could not be read; the connection is closed then. */
  readonly onBroken: (error: unknown) => void;
}

export class SourceSender {
  readonly #res: AnswerSocket;
  readonly #source: ByteSource;
  readonly #caller: string;
  readonly #turns: SendTurns;
  readonly #pace: SendPace;
  readonly #onWhole: () => void;
  readonly #onBroken: (error: unknown) => void;
  #bytes = 0;
  #isOpen = true;
  /** The socket did not take all that it was offered last. */
  #isBlocked = false;
  #offeredMs = performance.now();

  /** `onWhole` is called when the last byte was handed over. */
  constructor(res: AnswerSocket, source: ByteSource, options: SourceSenderOptions) {
    this.#res = res;
    this.#source = source;
    this.#caller = options.caller;
    this.#turns = options.turns;
    this.#pace = options.pace;
    this.#onWhole = options.onWhole;
    this.#onBroken = options.onBroken;
  }

  /** Bytes of the body sent so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Begins, within the cork of the head, which goes out with the first bytes where there is time for them. A short body always
   * does, as an answer does that is no stream: the head apart costs a system call, a packet and a turn more.
   */
  start(): void {
    this.#res.onWritable((offset) => {
      this.#bytes = offset;
      this.#isBlocked = false;
      this.#turns.add(this.#caller, this.#step);
      return true;
    });
    const mayBegin = this.#source.bytesTotal <= limits.sentWithHeadBytesMax || this.#turns.mayBegin;
    if (!mayBegin || this.#sendOnce()) this.#turns.add(this.#caller, this.#step);
  }

  /** The exchange has ended, this way or that. */
  stop(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#source.close?.();
  }

  /**
   * The library drops a socket that was not writable for ten seconds, though a slow reader may be busy with what the
   * system has buffered for it. Offering the rest again begins those ten seconds anew; how slow is too slow is decided here.
   */
  pushOn(nowMs: number): void {
    if (!this.#isOpen) return;
    if (this.#pace.isTooSlow(nowMs, this.#bytes)) this.#res.close();
    else if (this.#isBlocked && nowMs - this.#offeredMs >= limits.sendRetryMs) {
      this.#offeredMs = nowMs;
      this.#turns.add(this.#caller, this.#retry);
    }
  }

  readonly #step: SendStep = () => {
    const before = this.#bytes;
    let more = false;
    if (this.#isOpen) {
      this.#res.cork(() => {
        more = this.#sendOnce();
      });
    }
    return { bytes: this.#bytes - before, more };
  };

  /** Offers the rest again, in a turn shared with others: there may be hundreds that stopped reading at once. */
  readonly #retry: SendStep = () => {
    // Writable since, and in the circle already.
    if (!this.#isBlocked) return NOTHING_SENT;
    const { bytes, more } = this.#step();
    if (more) this.#turns.add(this.#caller, this.#step);
    return { bytes, more: false };
  };

  /** Sends what the source has at hand. True: the socket took it all and there is more. */
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

  /** A source that cannot be read ends the connection: half a body must not look like a whole one. */
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
