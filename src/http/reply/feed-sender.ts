/**
 * Sends a feed in chunks (RFC 9112, 7.1), each body as soon as it is ready. Waits for a full socket, so at most one
 * piece is buffered for a slow reader.
 */
import { turns } from '../../common/turns.ts';
import type { AnswerSocket } from './answer-socket.ts';
import type { ByteSource } from './body.ts';
import { closeBody, closeFeed, type Feed } from './feed.ts';
import type { ReplyBytes } from './whole.ts';

export class FeedSender {
  readonly #res: AnswerSocket;
  readonly #replyBytes: ReplyBytes;
  readonly #closes: boolean;
  readonly #caller: string;
  #isOpen = true;
  #isWaiting = false;
  #wake: (() => void) | undefined;
  #bytes = 0;

  /** `closes`: the connection ends with the feed, as its head says. `caller`: the receiver, an account or a network. */
  constructor(
    res: AnswerSocket,
    replyBytes: ReplyBytes,
    options: { readonly closes: boolean; readonly caller: string },
  ) {
    this.#res = res;
    this.#replyBytes = replyBytes;
    this.#closes = options.closes;
    this.#caller = options.caller;
    res.onWritable(() => {
      this.#wake?.();
      return true;
    });
  }

  /** Bytes of bodies sent so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True while the next body is not ready, so there is nothing to send. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** The client disconnected. */
  stop(): void {
    this.#isOpen = false;
    this.#wake?.();
  }

  /**
   * Sends all of a feed. Resolves with true when all of it was passed to the socket, with false when it was cut off.
   */
  async send(feed: Feed): Promise<boolean> {
    for (;;) {
      this.#isWaiting = true;
      const body = await feed.next();
      this.#isWaiting = false;
      if (!this.#isOpen) {
        if (body !== undefined) closeBody(body);
        await closeFeed(feed);
        return false;
      }
      if (body === undefined) {
        this.#res.cork(() => this.#end());
        return true;
      }
      if ('bytesTotal' in body) await this.#sendSource(body);
      else await this.#write(this.#replyBytes.of(body));
    }
  }

  /**
   * Told to close the connection, the library would write `Connection: close` here, into the body. So nothing more is read
   * from it, until the client closes it or the idle timeout of the library passes.
   */
  #end(): void {
    if (this.#closes) this.#res.pause();
    this.#res.end();
  }

  async #sendSource(source: ByteSource): Promise<void> {
    try {
      await this.#sendAll(source);
    } finally {
      source.close?.();
    }
  }

  /** Each read takes time of the caller's turns: hundreds of feeds may be sent at the same time. */
  async #sendAll(source: ByteSource): Promise<void> {
    for (let sent = 0; sent < source.bytesTotal && this.#isOpen; ) {
      if (turns.isOver) await turns.next(this.#caller);
      if (!this.#isOpen) return;
      const bytes = source.read(sent);
      if (bytes.length === 0) throw new Error(`a source of ${source.bytesTotal} bytes ended at ${sent}`);
      sent += bytes.length;
      await this.#write(bytes);
    }
  }

  /** The library copies the bytes before it returns. Resolves when the socket accepts more. */
  async #write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    let hasRoom = true;
    this.#res.cork(() => {
      hasRoom = this.#res.write(bytes);
    });
    if (hasRoom) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
