/**
 * A relay in front of a bucket that treats requests as a bad network does. What the store did, and what the client hears
 * of it, differ; the relay knows both.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** `before`: the store never gets it. `after`: the store has done it, and the answer is cut. */
export type Mischief = 'none' | 'before' | 'after' | 'half' | 'late' | 'twice' | 'busy' | 'mute';

export interface RoughBucket {
  readonly endpoint: string;
  /** What happens to the next requests of this method. */
  mischief: (method: string, path: string) => Mischief;
  readonly counts: Map<Mischief, number>;
  /** How late a request is that is `late`. */
  lateMs: number;
  /** Ends all connections. */
  cutAll(): void;
  close(): void;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const LATE_MS = 300;

export async function startRoughBucket(endpoint: string): Promise<RoughBucket> {
  const counts = new Map<Mischief, number>();
  const rough: RoughBucket = {
    endpoint: '',
    mischief: () => 'none',
    counts,
    lateMs: LATE_MS,
    cutAll: () => server.closeAllConnections(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = 'GET', url = '/' } = incoming;
    const mischief = rough.mischief(method, url);
    counts.set(mischief, (counts.get(mischief) ?? 0) + 1);
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    if (mischief === 'before') return outgoing.destroy();
    if (mischief === 'busy') return outgoing.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    const send = () => forward(endpoint + url, method, incoming.headers, body);
    if (mischief === 'late') await sleep(rough.lateMs);
    // A network that repeats: the client hears the answer to the second.
    if (mischief === 'twice') await send();
    const answer = await send();
    if (mischief === 'after') return outgoing.destroy();
    if (mischief === 'mute') return undefined;
    outgoing.writeHead(answer.status, answer.headers);
    if (mischief !== 'half') return outgoing.end(answer.body);
    outgoing.flushHeaders();
    return outgoing.destroy();
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return Object.assign(rough, { endpoint: `http://127.0.0.1:${port}` });
}

/** The signature names the host that the client meant, so that header stays; the store accepts any. */
function forward(url: string, method: string, headers: IncomingMessage['headers'], body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onward = request(url, { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const { connection: _, 'transfer-encoding': __, ...rest } = answer.headers;
        resolve({ status: answer.statusCode ?? 500, headers: rest, body: Buffer.concat(parts) });
      });
    });
    onward.on('error', reject);
    onward.end(body);
  });
}
