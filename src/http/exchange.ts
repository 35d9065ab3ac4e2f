/**
 * Handles one request and its one answer: the copied request head, the deadline, the abort, and the response bytes.
 * After an abort or an answer, nothing touches the library's response object.
 */

import type { Fault } from '../common/fault.ts';
import type { Caller, Lease } from '../common/shares.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import { type Bagged, NO_PLACE } from './bag.ts';
import type { ExchangeEnd } from './measure/exchange-end.ts';
import type { AnswerSocket } from './reply/answer-socket.ts';
import { type ByteSource, type Parts, slicesOf } from './reply/body.ts';
import { closeFeed, type Feed, feedOf } from './reply/feed.ts';
import { FeedSender } from './reply/feed-sender.ts';
import { isFeed, isSource, NO_HEADERS, type Reply, type ReplyHeaders, withHeaders } from './reply/reply.ts';
import { SendPace } from './reply/send-pace.ts';
import { SourceSender } from './reply/source-sender.ts';
import type { ReplyBytes } from './reply/whole.ts';
import { writeHead } from './reply/write-head.ts';
import { IncomingBody } from './request/body.ts';
import { BodyRest, mayLoseAnswer } from './request/body-rest.ts';
import type { CallNote } from './request/call-note.ts';
import type { RequestHead } from './request/head.ts';
import { type Reading, readBody } from './request/read-body.ts';

/** State shared by all exchanges of a front door. */
export interface ExchangeSurroundings {
  readonly replyBytes: ReplyBytes;
  /** Builds a refusal in the format of the requested surface. */
  readonly refuse: (exchange: Exchange, fault: Fault) => Reply;
  /** How long a reader may accept no bytes of an answer. */
  readonly stallSeconds: number;
  /** True when browsers reach this service over TLS. */
  readonly isSecure: boolean;
  readonly onEnd: (exchange: Exchange, end: ExchangeEnd) => void;
  /** Called when a body could not be read to its end. The connection is closed because the status was already sent. */
  readonly onBroken: (exchange: Exchange, error: unknown) => void;
}

interface Deadline {
  readonly atMs: number;
  readonly lingerMs: number;
  readonly fault: Fault;
  /** Each byte of the body that arrives extends the deadline by this. */
  readonly msPerByte: number;
}

export class Exchange implements Bagged {
  bagPlace = NO_PLACE;
  readonly head: RequestHead;
  /** The pattern of the matched route, for the log. */
  route = '';
  accountId: string | undefined;
  /** Kind of the refusal that was sent, for the log. */
  refused: string | undefined;
  /** True after the handler asked for more time to wait. */
  hasWaited = false;
  /** Notes on the calls inside this request, for the log. */
  readonly calls: CallNote[] = [];
  /** Releases this answer's place among the streams. Set before a streamed reply. */
  closeStream: (() => void) | undefined;
  readonly #res: AnswerSocket;
  readonly #surroundings: ExchangeSurroundings;
  readonly #startedMs = performance.now();
  /** Headers sent with any answer of this exchange, added by the checks before the handler. */
  #answerHeaders: ReplyHeaders = NO_HEADERS;
  #body: IncomingBody | undefined;
  #reading: Reading | undefined;
  /** Set when an answer before the end of the body could be lost. */
  readonly #rest: BodyRest | undefined;
  #deadline: Deadline | undefined;
  #status: number | undefined;
  #settled = false;
  #isHeld = false;
  /** The answer that waits while it is held. */
  #held: Reply | undefined;
  #ended = false;
  #bytesOut = 0;
  #feedSender: FeedSender | undefined;
  #sourceSender: SourceSender | undefined;
  #whenGone: (() => void)[] = [];

  constructor(res: AnswerSocket, head: RequestHead, surroundings: ExchangeSurroundings) {
    this.#res = res;
    this.head = head;
    this.#surroundings = surroundings;
    if (mayLoseAnswer(head)) {
      const rest = new BodyRest(head.bytesDeclared);
      this.#rest = rest;
      res.onData((chunk, isLast) => rest.receive(chunk.byteLength, isLast, performance.now()));
    }
    res.onAborted(() => {
      this.#settled = true;
      this.#reading?.forget();
      this.#body?.fail({ kind: 'body_incomplete' });
      this.#end(true);
    });
  }

  /** Adds headers to the answer, whatever it will be. A later header replaces one with the same name. */
  addHeaders(headers: ReplyHeaders): void {
    if (headers === NO_HEADERS) return;
    this.#answerHeaders = this.#answerHeaders === NO_HEADERS ? headers : withHeaders(this.#answerHeaders, headers);
  }

  /** True when answered, aborted or expired: any later output of the handler is dropped. */
  get settled(): boolean {
    return this.#settled;
  }

  /** Starts reading the body. Must be called in the turn of the request's arrival. `onLast` runs at the last byte. */
  openBody(bytesMax: number, onLast: () => void, lease?: Lease): IncomingBody {
    const body = new IncomingBody(bytesMax, lease, this.head.bytesDeclared);
    this.#body = body;
    this.#reading = readBody(this.#res, body, (bytes, isLast) => {
      this.#rest?.receive(bytes.length, isLast, performance.now());
      if (this.#settled || this.#rest?.isAwaited === true) return;
      body.receive(bytes, isLast);
      if (isLast) onLast();
    });
    return body;
  }

  /** The caller that this exchange is counted for. */
  get caller(): Caller {
    return { accountId: this.accountId, address: this.head.addressBlock };
  }

  /** The account, or the widest network of a stranger: it takes turns under this name. */
  get turnName(): string {
    return this.accountId ?? this.head.widestNetwork;
  }

  /** Refuses the exchange with `fault` after `seconds`, extended by the time the received bytes need at that rate. */
  expireIn(seconds: number, fault: Fault, bytesPerSecond = Number.POSITIVE_INFINITY): void {
    const atMs = performance.now() + seconds * 1000;
    this.#deadline = { atMs, lingerMs: 0, fault, msPerByte: 1000 / bytesPerSecond };
  }

  /** Extends the handler's deadline by `seconds` (repeated calls do not add up). `gone` is called at the end. */
  linger(seconds: number, gone: () => void): void {
    this.hasWaited = true;
    if (this.#ended) gone();
    else this.#whenGone.push(gone);
    if (this.#deadline === undefined) return;
    const { atMs, lingerMs } = this.#deadline;
    const longer = Math.max(lingerMs, seconds * 1000);
    this.#deadline = { ...this.#deadline, atMs: atMs - lingerMs + longer, lingerMs: longer };
  }

  /** Refuses the exchange after its deadline. Resumes sending a started answer, or closes it when it hardly moves. */
  checkDeadline(nowMs: number): void {
    this.#sourceSender?.pushOn(nowMs);
    if (this.#rest?.isAwaited === true) {
      this.#rest.checkDeadline(nowMs);
      return;
    }
    if (this.#deadline === undefined || nowMs < this.#deadline.atMs) return;
    if (nowMs < this.#deadline.atMs + (this.#body?.bytes ?? 0) * this.#deadline.msPerByte) return;
    if (this.#settled) {
      // Part of the answer was already sent: closing the connection shows the client that it is incomplete.
      if (this.#feedSender?.isWaiting === true) this.#res.close();
      return;
    }
    const { fault } = this.#deadline;
    this.reply(this.#surroundings.refuse(this, fault));
    this.#body?.fail(fault);
  }

  /** Closes the connection. The answer, or the rest of it, is not delivered. */
  cut(): void {
    if (!this.#ended) this.#res.close();
  }

  /**
   * Sends no answer in this turn of the event loop. For the last request of a connection: until it is answered, the
   * library treats bytes after it as pipelined, and closes the connection without handling them.
   */
  holdAnswer(): void {
    this.#isHeld = true;
    turns.afterEvents(() => {
      this.#isHeld = false;
      if (this.#held !== undefined) this.reply(this.#held);
    });
  }

  /** Sends the answer once; later ones are dropped. Closes the connection where the request ends it. */
  reply(made: Reply): void {
    if (this.#isHeld) {
      if (this.#held === undefined) this.#held = made;
      else this.#drop(made.body);
      return;
    }
    const reply = this.head.endsConnection ? closing(made) : made;
    if (this.#settled) {
      this.#drop(reply.body);
      return;
    }
    if (this.#rest?.isMissing === true && isInMemory(made) && made.close !== 'now') {
      this.#awaitRest(this.#rest, made);
      return;
    }
    this.#settled = true;
    this.#reading?.leave();
    if (!isFeed(reply.body)) this.#deadline = undefined;
    this.#status = reply.status;
    this.#res.cork(() => {
      writeHead(this.#res, reply, {
        requestId: this.head.id,
        isSecure: this.#surroundings.isSecure,
        common: this.#answerHeaders,
      });
      if (this.head.method === 'HEAD') this.#endHead(reply);
      else if (reply.body === undefined) this.#endEmpty(reply);
      else if (isSource(reply.body)) this.#endStream(reply.body);
      else if (isFeed(reply.body)) void this.#sendFeed(reply.body);
      else this.#endWhole(reply.body, reply.close);
    });
  }

  /** Holds the answer until the rest of the body was discarded. What has been received of it is let go. */
  #awaitRest(rest: BodyRest, made: Reply): void {
    this.#isHeld = true;
    this.#held = made;
    this.#body?.fail({ kind: 'body_incomplete' });
    this.#reading?.leave();
    rest.await(() => {
      this.#isHeld = false;
      this.reply(made);
    }, performance.now());
  }

  /** Releases a body that will not be sent. */
  #drop(body: Reply['body']): void {
    if (body === undefined) return;
    if (isSource(body)) body.close?.();
    // A feed that fails to become ready holds nothing to release.
    else if (isFeed(body)) closeFeed(body).catch(() => undefined);
  }

  /** HEAD: the length of the GET answer. Passed to the library as a number, it would wait for a body forever. */
  #endHead({ body }: Reply): void {
    if (body !== undefined && !isFeed(body)) {
      const bytes = isSource(body) ? body.bytesTotal : this.#surroundings.replyBytes.of(body).length;
      this.#res.writeHeader('Content-Length', String(bytes));
    }
    this.#endBare(this.head.endsConnection);
    this.#drop(body);
    this.#end(false);
  }

  #endEmpty(reply: Reply): void {
    // 204 and 304 have no body and no length by definition. Other statuses declare an empty body.
    if (reply.status === 204 || reply.status === 304) this.#endBare(reply.close !== undefined);
    else this.#res.end('', reply.close !== undefined);
    this.#end(false);
  }

  /** Ends without a body. The library would add a length when closing, so the socket is paused instead, as below. */
  #endBare(closes: boolean): void {
    if (closes) {
      this.#res.writeHeader('Connection', 'close');
      this.#res.pause();
    }
    this.#res.endWithoutBody();
  }

  #endWhole(whole: string | Parts, close?: Reply['close']): void {
    const body = this.#surroundings.replyBytes.of(whole);
    const rest = this.#unread();
    // A body of this length is not in the buffer that the replies share.
    if (body.length > limits.replyBufferBytes && rest === 'none' && close === undefined) {
      this.#endStream(slicesOf(body, limits.replyChunkBytes));
      return;
    }
    this.#bytesOut = body.length;
    if (close !== 'now' && (rest === 'long' || (rest === 'short' && close === 'after'))) {
      // Closing now would reset the connection and lose the unread answer (RFC 9112, 9.6). So the socket stays open,
      // paused, until the client closes it or the library's idle timeout passes.
      this.#res.writeHeader('Connection', 'close');
      this.#res.pause();
      this.#res.end(body);
    } else {
      this.#res.end(body, close !== undefined);
    }
    this.#end(false);
  }

  /** The unread rest of the body: none, few enough bytes to discard, or more than that (or an unknown number). */
  #unread(): 'none' | 'short' | 'long' {
    if (!this.head.hasBody || this.#body?.ended === true) return 'none';
    const unread = (this.head.bytesDeclared ?? Number.POSITIVE_INFINITY) - (this.#body?.bytes ?? 0);
    return unread > limits.discardedBodyBytesMax ? 'long' : 'short';
  }

  #endStream(source: ByteSource): void {
    if (source.bytesTotal === 0) {
      source.close?.();
      this.#endWhole('');
      return;
    }
    const { stallSeconds } = this.#surroundings;
    const pace = new SendPace(stallSeconds, performance.now());
    this.#sourceSender = new SourceSender(this.#res, source, {
      caller: this.turnName,
      pace,
      onWhole: () => this.#end(false),
      onBroken: (error) => this.#surroundings.onBroken(this, error),
    });
    this.#sourceSender.start();
  }

  async #sendFeed(feed: Feed): Promise<void> {
    const closes = this.head.endsConnection;
    if (closes) this.#res.writeHeader('Connection', 'close');
    const sender = new FeedSender(this.#res, this.#surroundings.replyBytes, { closes, caller: this.turnName });
    this.#feedSender = sender;
    let isWhole = false;
    try {
      isWhole = await sender.send(feed);
    } catch (error) {
      this.#surroundings.onBroken(this, error);
      if (!this.#ended) this.#res.close();
    }
    if (isWhole) this.#end(false);
  }

  #end(aborted: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#feedSender?.stop();
    this.#sourceSender?.stop();
    for (const gone of this.#whenGone) gone();
    this.#surroundings.onEnd(this, {
      status: this.#status,
      aborted,
      bytesIn: this.#body?.bytes ?? 0,
      bytesOut: this.#feedSender?.bytes ?? this.#sourceSender?.bytes ?? this.#bytesOut,
      ms: performance.now() - this.#startedMs,
    });
  }
}

/**
 * Returns the same answer, closing the connection at its end. A body of known length is sent in chunks, because only
 * that can close a connection.
 */
function closing(reply: Reply): Reply {
  const { body } = reply;
  if (body !== undefined && isSource(body) && body.bytesTotal > 0) {
    return { ...reply, body: feedOf([Promise.resolve(body)]) };
  }
  return reply.close === undefined ? { ...reply, close: 'after' } : reply;
}

/** True when waiting with this answer holds nothing but its bytes. */
function isInMemory({ body }: Reply): boolean {
  return body === undefined || !(isSource(body) || isFeed(body));
}
