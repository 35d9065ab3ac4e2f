/** Turns each request handed over by one front into an exchange of the service's door. Runs on the hub thread. */
import type { AnswerSocket } from '../http/reply/answer-socket.ts';
import type { HeadFields } from '../http/request/head.ts';
import { limits } from '../limits/service.ts';
import { HandedSocket } from './handed-socket.ts';
import type { FromFront, FromHub, FrontNews, Turn } from './messages.ts';
import { bytesAt, type Outbox } from './outbox.ts';

export interface FrontDeskOptions {
  readonly outbox: Outbox<FromHub>;
  /** Answers a request as if it had arrived on the hub thread. */
  readonly accept: (socket: AnswerSocket, head: HeadFields) => void;
  /** Receives the front's reports about itself. */
  readonly onNews: (news: FrontNews) => void;
}

export class FrontDesk {
  readonly #options: FrontDeskOptions;
  readonly #sockets = new Map<number, HandedSocket>();
  /** Bytes of bodies received, but not yet reported to the front. */
  #bytesUntold = 0;

  constructor(options: FrontDeskOptions) {
    this.#options = options;
  }

  /** Processes one message from the front: everything sent in one turn of its event loop. */
  receive(turn: Turn<FromFront>): void {
    for (const message of turn.messages) {
      if (message.kind === 'open') this.#open(message);
      else if (message.kind === 'body') this.#receiveBody(message, bytesAt(turn, message.bytes));
      else if (message.kind === 'taken') this.#sockets.get(message.id)?.advance(message.bytes);
      else if (message.kind === 'gone') this.#sockets.get(message.id)?.abort();
      else this.#options.onNews(message);
    }
  }

  #receiveBody({ id, isLast }: Extract<FromFront, { kind: 'body' }>, bytes: Uint8Array): void {
    this.#sockets.get(id)?.receive(bytes, isLast);
    this.#bytesUntold += bytes.length;
    if (this.#bytesUntold < limits.handedBytesAhead) return;
    this.#options.outbox.add({ kind: 'received', bytes: this.#bytesUntold });
    this.#bytesUntold = 0;
  }

  /** Aborts every open exchange, because the front and its connections are gone. */
  abandon(): void {
    // `abort` deletes the socket from the map. A map allows that during iteration.
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
