/** Reads a stream of server-sent events of a hub, as a browser's page does. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { PageClient } from './page-client.ts';

interface ServerEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

export class EventReader {
  readonly status: number;
  readonly events: ServerEvent[] = [];
  /** The other side has ended the stream. */
  isOver = false;
  readonly #outgoing: ClientRequest;
  #waiting: (() => void)[] = [];
  #rest = '';

  private constructor(outgoing: ClientRequest, incoming: IncomingMessage) {
    this.#outgoing = outgoing;
    this.status = incoming.statusCode ?? 0;
    incoming.setEncoding('utf8');
    incoming.on('data', (text: string) => this.#take(text));
    incoming.on('error', () => this.#end());
    incoming.on('end', () => this.#end());
  }

  /** Opens `path` with the cookies of a browser. Resolves with the head of the answer. */
  static open({ hub, cookies }: PageClient, path: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new Promise((resolve, reject) => {
      const outgoing = request(`${hub.url}${path}`, {
        agent: false,
        headers: { 'User-Agent': 'cairn-test/1', Cookie: cookie, ...headers },
      });
      outgoing.on('response', (incoming) => resolve(new EventReader(outgoing, incoming)));
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  /** Resolves with the first event, past or future, that the test accepts; undefined: the stream ended before. */
  async find(accepts: (event: ServerEvent) => boolean): Promise<ServerEvent | undefined> {
    for (;;) {
      const found = this.events.find(accepts);
      if (found !== undefined || this.isOver) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when the stream has ended. */
  async over(): Promise<void> {
    while (!this.isOver) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.#outgoing.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s) as [string, string]));
      const event = fields.get('event');
      if (event !== undefined) this.events.push({ event, id: fields.get('id') ?? '', data: fields.get('data') ?? '' });
    }
    this.#wake();
  }

  #end(): void {
    this.isOver = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
