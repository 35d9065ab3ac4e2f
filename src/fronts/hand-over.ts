/** Hands requests of a front to the hub thread: forwards their bodies, and writes the answers to the sockets. */
import type { Connection } from '../http/library/listen.ts';
import type { HeadFields } from '../http/request/head.ts';
import { limits } from '../limits/service.ts';
import type { AnswerPart, FromFront, Turn } from './messages.ts';
import { bytesAt, type Outbox } from './outbox.ts';

/** A part of a body of known length, not yet fully written to the socket. */
interface Piece {
  readonly bytes: Uint8Array;
  /** Its offset in the body. */
  readonly at: number;
}

interface Handed {
  readonly socket: Connection;
  pieces: Piece[];
  piecesEnd: number;
  /** Bytes of the pieces accepted by the socket, and how many of them were reported to the hub. */
  offset: number;
  told: number;
  bytesTotal: number;
  /** Bytes of chunks buffered in the socket. */
  waiting: number;
  isAnswered: boolean;
}

/** Passes the next bytes of a body to the hub thread. */
export type PassBody = (bytes: Uint8Array, isLast: boolean) => void;

export class HandOver {
  readonly #outbox: Outbox<FromFront>;
  readonly #handed = new Map<number, Handed>();
  readonly #retry: NodeJS.Timeout;
  /** Sockets not read until the hub thread has received more. */
  readonly #paused = new Set<Connection>();
  /** Bytes of bodies in transit to the hub thread. */
  #bytesAhead = 0;
  #lastId = 0;
  #whenQuiet: (() => void) | undefined;

  constructor(outbox: Outbox<FromFront>) {
    this.#outbox = outbox;
    // The library drops a socket that was not writable for ten seconds; another write attempt restarts this timeout. The
    // hub thread watches the pace of an answer until it has sent the last piece.
    this.#retry = setInterval(() => {
      for (const [id, handed] of this.#handed) {
        const isWatched = handed.piecesEnd < handed.bytesTotal;
        if (isWatched && handed.pieces.length > 0) this.#sendPieces(id, handed);
      }
    }, limits.sendRetryMs);
    this.#retry.unref();
  }

  /** Hands a request over. Called within a callback of the HTTP library. */
  open(socket: Connection, head: HeadFields): PassBody {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#handed.set(id, {
      socket,
      pieces: [],
      piecesEnd: 0,
      offset: 0,
      told: 0,
      bytesTotal: 0,
      waiting: 0,
      isAnswered: false,
    });
    socket.onAborted(() => {
      this.#paused.delete(socket);
      if (this.#forget(id)) this.#outbox.add({ kind: 'gone', id });
    });
    this.#outbox.add({ kind: 'open', id, head: flat(head), hasBody: hasBody(head) });
    return (bytes, isLast) => {
      const handed = this.#handed.get(id);
      if (handed === undefined) return;
      this.#outbox.add({ kind: 'body', id, bytes: this.#outbox.carry(bytes), isLast });
      this.#bytesAhead += bytes.length;
      if (isLast || handed.isAnswered || this.#bytesAhead < limits.handedBodyBytesAhead) return;
      socket.pause();
      this.#paused.add(socket);
    };
  }

  /** The hub thread has received `bytes` more bytes of bodies. */
  received(bytes: number): void {
    this.#bytesAhead -= bytes;
    if (this.#bytesAhead > limits.handedBodyBytesAhead / 2) return;
    for (const socket of this.#paused) socket.resume();
    this.#paused.clear();
  }

  /** Writes a part of an answer to its socket. */
  answer(part: AnswerPart, turn: Turn<unknown>): void {
    const handed = this.#handed.get(part.id);
    if (handed === undefined) return;
    if (part.how === 'close') {
      handed.socket.close();
      return;
    }
    handed.socket.cork(() => this.#play(part, handed, bytesAt(turn, part.bytes)));
  }

  /** Resolves when every answer was passed to its socket, or after `seconds`. */
  async quiet(seconds: number): Promise<void> {
    if (this.#handed.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenQuiet = resolve;
      timer = setTimeout(resolve, seconds * 1000);
    });
    clearTimeout(timer);
  }

  #play(part: AnswerPart, handed: Handed, bytes: Uint8Array): void {
    const { socket } = handed;
    const { id, status, headers = [], how, closes = false } = part;
    if (status !== undefined) this.#begin(handed, status);
    for (let at = 0; at < headers.length; at += 2) socket.writeHeader(headers[at] ?? '', headers[at + 1] ?? '');
    if (part.pauses === true) socket.pause();
    if (how === 'piece') {
      handed.bytesTotal = part.bytesTotal ?? 0;
      handed.pieces.push({ bytes, at: handed.piecesEnd });
      handed.piecesEnd += bytes.length;
      // Later pieces are written when the socket becomes writable.
      if (handed.pieces.length === 1) this.#offer(id, handed);
    } else if (how === 'chunk') this.#writeChunk(id, handed, bytes);
    else {
      if (how === 'bare') socket.endWithoutBody();
      else if (how === 'last') socket.end(undefined, closes);
      else socket.end(bytes, closes);
      this.#forget(id);
    }
  }

  #begin(handed: Handed, status: string): void {
    const { socket } = handed;
    handed.isAnswered = true;
    // What arrives after the answer begins is read and dropped, unless the answer itself pauses the socket.
    if (this.#paused.delete(socket)) socket.resume();
    socket.writeStatus(status);
  }

  #writeChunk(id: number, handed: Handed, bytes: Uint8Array): void {
    const { socket } = handed;
    if (socket.write(bytes) && handed.waiting === 0) {
      this.#outbox.add({ kind: 'taken', id, bytes: bytes.length });
      return;
    }
    if (handed.waiting === 0) {
      socket.onWritable(() => {
        this.#outbox.add({ kind: 'taken', id, bytes: handed.waiting });
        handed.waiting = 0;
        return true;
      });
    }
    handed.waiting += bytes.length;
  }

  #sendPieces(id: number, handed: Handed): void {
    handed.socket.cork(() => this.#offer(id, handed));
  }

  /** Writes queued pieces until the socket accepts no more. */
  #offer(id: number, handed: Handed): void {
    const { socket } = handed;
    for (let [piece] = handed.pieces; piece !== undefined; [piece] = handed.pieces) {
      const rest = piece.bytes.subarray(handed.offset - piece.at);
      if (rest.length === 0) {
        handed.pieces.shift();
        continue;
      }
      const [taken, done] = socket.tryEnd(rest, handed.bytesTotal);
      if (done) {
        this.#forget(id);
        return;
      }
      handed.offset = taken ? piece.at + piece.bytes.length : socket.getWriteOffset();
      if (!taken) {
        socket.onWritable((offset) => {
          handed.offset = offset;
          this.#sendPieces(id, handed);
          return true;
        });
        break;
      }
    }
    if (handed.offset === handed.told) return;
    this.#outbox.add({ kind: 'taken', id, bytes: handed.offset - handed.told });
    handed.told = handed.offset;
  }

  #forget(id: number): boolean {
    const isKnown = this.#handed.delete(id);
    if (this.#handed.size === 0) this.#whenQuiet?.();
    return isKnown;
  }
}

/** True when a body follows the head of a request. */
export function hasBody({ pairs }: HeadFields): boolean {
  return pairs.some(
    ([name, value]) => (name === 'content-length' && Number(value) > 0) || name === 'transfer-encoding',
  );
}

function flat({ method, path, query, peer, pairs }: HeadFields): string[] {
  const head = [method, path, query, peer];
  for (const [name, value] of pairs) head.push(name, value);
  return head;
}
