/** A bare socket that a test talks through in steps, and the answers that came back over it. */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawClient {
  readonly socket: Socket;
  send(bytes: string | Uint8Array): void;
  /** Everything received so far, one character per byte. */
  text(): string;
  /** Every whole answer received so far. */
  answers(): RawAnswer[];
  /** Resolves with the answers once there are `count` whole ones; rejects when the connection closes before that. */
  received(count: number): Promise<RawAnswer[]>;
  /** Resolves when the other side has closed the connection. */
  readonly closed: Promise<void>;
  /** Vanishes: the other side sees a reset. */
  vanish(): void;
}

/** Connects. `ofHead` says that answers have no body, as those to HEAD. */
export async function rawClient(port: number, { ofHead = false, from = '127.0.0.1' } = {}): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  let text = '';
  let isClosed = false;
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  socket.on('data', (data) => {
    text += data.toString('latin1');
    wake();
  });
  // A reset is how some refusals end; what was read before it counts.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    });
  });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    text: () => text,
    answers: () => parseAnswers(text, ofHead),
    received: (count) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const answers = parseAnswers(text, ofHead);
          if (answers.length >= count) resolve(answers);
          else if (isClosed) reject(new Error(`closed after ${answers.length} of ${count} answers: ${text}`));
          else return;
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
    closed,
    vanish: () => void socket.resetAndDestroy(),
  };
}

/** Splits what a server sent into its whole final answers, by their declared lengths. */
function parseAnswers(text: string, ofHead = false): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = ofHead ? 0 : Number(headers['content-length'] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) return answers;
    rest = rest.slice(end + 4 + length);
    if (status >= 200 || status === 0) answers.push({ status, headers, body });
  }
}

/** The bytes of a request head: the request line, `Host` and `User-Agent` unless left out, then the given lines. */
export function head(requestLine: string, lines: readonly string[] = [], { host = true, agent = true } = {}): string {
  const own = [...(host ? ['Host: cairn.test'] : []), ...(agent ? ['User-Agent: cairn-test/1'] : [])];
  return `${[requestLine, ...own, ...lines].join('\r\n')}\r\n\r\n`;
}
