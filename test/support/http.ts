/** Speaks HTTP to a hub: node's own client for whole requests, a bare socket for what no client would send. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Hub } from './hub.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The parsed body; throws when it is not JSON. */
  json(): Record<string, unknown>;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Record<string, string | readonly string[] | undefined>;
  readonly body?: Uint8Array | string;
}

export const AGENT = 'cairn-test/1';

/** One request on a connection of its own. `User-Agent` is set unless given; `undefined` leaves it out. */
export function call(hub: Pick<Hub, 'url'>, path: string, options: Call = {}): Promise<Answer> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries({ 'User-Agent': AGENT, ...options.headers })) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : [...value];
  }
  if (
    options.body !== undefined &&
    headers['Content-Length'] === undefined &&
    headers['Transfer-Encoding'] === undefined
  ) {
    headers['Content-Length'] = String(Buffer.byteLength(options.body));
  }
  const open = hub.url.startsWith('https') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = open(
      `${hub.url}${path}`,
      { method: options.method ?? 'GET', headers, agent: false, rejectUnauthorized: false },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const bytes = Buffer.concat(parts);
          const text = bytes.toString('utf8');
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            bytes,
            text,
            json: () => JSON.parse(text) as Record<string, unknown>,
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}

/** Sends bytes as they are and collects what comes back until the other side closes, or `ms` of silence. */
export function rawExchange(
  port: number,
  parts: readonly (string | Uint8Array)[],
  { silenceMs = 400, gapMs = 0 } = {},
): Promise<{ readonly text: string; readonly closed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const listen = () => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), silenceMs);
    };
    socket.on('data', (data) => {
      text += data.toString('latin1');
      listen();
    });
    socket.on('close', () => finish(true));
    // A reset is how some refusals end; what was read before it counts.
    socket.on('error', () => undefined);
    socket.on('connect', async () => {
      for (const part of parts) {
        socket.write(part);
        if (gapMs > 0) await new Promise((done) => setTimeout(done, gapMs));
      }
      listen();
    });
  });
}

/** The status codes of the answers in a raw exchange, in order. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1])).filter((status) => status >= 200);
}
