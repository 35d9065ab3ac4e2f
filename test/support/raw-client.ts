/** A bare socket that speaks one request at a time, piece by piece, and reads whole answers: for what no client does. */
import { connect, type Socket } from 'node:net';
import { AGENT } from './http.ts';
import type { Hub } from './hub.ts';
import { type Credential, uploadHeaders } from './mirror.ts';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  json(): Record<string, unknown>;
}

const HEAD_END = '\r\n\r\n';

export class RawClient {
  readonly socket: Socket;
  /** Resolves when the connection is closed by either side. */
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data]);
      this.#wake?.();
    });
    // A reset is how some refusals end; what was read before it counts.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true;
        this.#wake?.();
        resolve();
      });
    });
  }

  static open(hub: Pick<Hub, 'port'>): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(hub.port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawClient(socket)));
    });
  }

  /** Resolves when the bytes were handed to the system. A closed connection counts as sent: the answer tells. */
  send(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed || this.socket.destroyed) resolve();
      else this.socket.write(bytes, () => resolve());
    });
  }

  /** The next answer with a Content-Length; undefined when the connection closes before it is whole. */
  async answer(): Promise<RawAnswer | undefined> {
    for (;;) {
      const answer = this.#take();
      if (answer !== undefined) return answer;
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** What came in and was not taken as an answer yet. */
  get pending(): string {
    return this.#received.toString('latin1');
  }

  destroy(): void {
    this.socket.destroy();
  }

  #take(): RawAnswer | undefined {
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return undefined;
    const [statusLine = '', ...lines] = this.#received.subarray(0, headEnd).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(statusLine.split(' ')[1]);
    const bodyAt = headEnd + HEAD_END.length;
    const end = bodyAt + (status < 200 ? 0 : Number(headers['content-length'] ?? 0));
    if (this.#received.length < end) return undefined;
    const text = this.#received.subarray(bodyAt, end).toString('utf8');
    this.#received = this.#received.subarray(end);
    return { status, headers, text, json: () => JSON.parse(text) as Record<string, unknown> };
  }
}

/** The head of a correct upload of `bytes` as it stands on the wire; `headers` override or, as undefined, leave out. */
export function uploadHead(
  who: Credential,
  commitSha: string,
  bytes: Uint8Array,
  headers: Record<string, string | undefined> = {},
): string {
  const all: Record<string, string | undefined> = {
    Host: 'hub.example',
    'User-Agent': AGENT,
    'Content-Length': String(bytes.length),
    ...uploadHeaders(who, commitSha, bytes),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `POST /api/cert_mirror HTTP/1.1\r\n${lines.join('\r\n')}${HEAD_END}`;
}

/** Sends the head of a request alone and gives the answer that comes without a body. */
export async function answerToHead(hub: Pick<Hub, 'port'>, head: string): Promise<RawAnswer | undefined> {
  const client = await RawClient.open(hub);
  try {
    await client.send(head);
    return await client.answer();
  } finally {
    client.destroy();
  }
}
