/** Owns, on the hub thread, what one front hands over: each request becomes an exchange of the hub's own door. */
import type { AnswerSocket } from '../http/reply/answer-socket.ts';
import type { HeadFields } from '../http/request/head.ts';
import { HandedSocket } from './handed-socket.ts';
import type { FromFront, FromHub, FrontNews, Turn } from './messages.ts';
import { bytesAt, type Outbox } from './outbox.ts';

export interface FrontDeskOptions {
  readonly outbox: Outbox<FromHub>;
  /** Answers a request as if it had come in here. */
  readonly accept: (socket: AnswerSocket, head: HeadFields) => void;
  /** Hears of the front itself. */
  readonly onNews: (news: FrontNews) => void;
}

export class FrontDesk {
  readonly #options: FrontDeskOptions;
  readonly #sockets = new Map<number, HandedSocket>();

  constructor(options: FrontDeskOptions) {
    this.#options = options;
  }

  /** Takes what the front sent in one of its turns. */
  receive(turn: Turn<FromFront>): void {
    for (const message of turn.messages) {
      if (message.kind === 'open') this.#open(message);
      else if (message.kind === 'body') {
        this.#sockets.get(message.id)?.receive(bytesAt(turn, message.bytes), message.isLast);
      } else if (message.kind === 'taken') this.#sockets.get(message.id)?.advance(message.bytes);
      else if (message.kind === 'gone') this.#sockets.get(message.id)?.abort();
      else this.#options.onNews(message);
    }
  }

  /** The front is gone, and with it every connection. */
  abandon(): void {
    // Each takes itself off the list, which the walk allows.
    for (const socket of this.#sockets.values()) socket.abort();
  }

  #open({ id, head, hasBody }: Extract<FromFront, { kind: 'open' }>): void {
    const { outbox, accept } = this.#options;
    const socket = new HandedSocket(
      (part, bytes) => {
        outbox.add({ kind: 'answer', id, ...part, ...(bytes === undefined ? {} : { bytes: outbox.carry(bytes) }) });
      },
      () => this.#sockets.delete(id),
    );
    this.#sockets.set(id, socket);
    accept(socket, headOf(head));
    if (!hasBody) socket.receive(new Uint8Array(0), true);
  }
}

function headOf([method = '', path = '', query = '', peer = '', ...fields]: readonly string[]): HeadFields {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at < fields.length; at += 2) pairs.push([fields[at] ?? '', fields[at + 1] ?? '']);
  return { method, path, query, peer, pairs };
}
