/** A server that takes webhooks, and checks each signature as a receiver would. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly id: string;
  readonly type: string;
  readonly event: { readonly id: string; readonly kind: string; readonly act: string; readonly name: string };
  /** How many of the signatures are right under the secret. */
  readonly signed: number;
  readonly status: number;
}

/** For waiting until something arrives, on a busy machine. */
export const PATIENTLY = { timeout: 40_000, interval: 50 };

export class Receiver {
  readonly received: Received[] = [];
  /** The secret that signatures are checked with. */
  secret = '';
  /** Status of the next answers; 0: the connection is cut. */
  status = 200;
  /** How many more are answered with `status`; the connections of those after them are cut. */
  answers = Infinity;
  headers: Record<string, string> = {};
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((incoming, answer) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () => {
        const body = Buffer.concat(parts).toString();
        const header = (name: string) => String(incoming.headers[name] ?? '');
        const id = header('webhook-id');
        const { type, data } = JSON.parse(body) as { type: string; data: Received['event'] };
        const expected = createHmac('sha256', Buffer.from(this.secret.replace(/^whsec_/, ''), 'base64'))
          .update(`${id}.${header('webhook-timestamp')}.${body}`)
          .digest();
        const isOurs = (signature: string) => {
          const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
          return given.length === expected.length && timingSafeEqual(given, expected);
        };
        const signed = header('webhook-signature').split(' ').filter(isOurs).length;
        const status = this.answers > 0 ? this.status : 0;
        this.answers -= 1;
        this.received.push({ id, type, event: data, signed, status });
        if (status === 0) incoming.socket.destroy();
        else answer.writeHead(status, this.headers).end('thanks');
      });
    });
  }

  /** Listens on a free port of this machine. */
  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((listening) => receiver.#server.listen(0, '127.0.0.1', listening));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** What was answered with 2xx, in order. */
  get taken(): Received[] {
    return this.received.filter(({ status }) => status >= 200 && status < 300);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
