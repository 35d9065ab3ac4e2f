/** A relay in front of a hub, for what a network or a hostile hub does: counts, drops answers, rewrites them, goes away. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Hub } from './hub.ts';

interface Relayed {
  readonly method: string;
  readonly path: string;
  /** The body of the request, as text. */
  readonly body: string;
}

interface RelayRules {
  /** True: the hub gets the request, and its answer is lost. */
  readonly drops?: (request: Relayed) => boolean;
  /** Runs before the hub gets the request. */
  readonly holds?: (request: Relayed) => Promise<void>;
  /** Another answer than the hub's. */
  readonly rewrites?: (answer: string, request: Relayed) => string;
  /** Answers instead of the hub. */
  readonly answers?: (request: Relayed) => { readonly status: number; readonly body: string } | undefined;
}

export interface Relay {
  readonly url: string;
  readonly requests: readonly Relayed[];
  rules: RelayRules;
  /** Names the hub that requests go to from here on. */
  target: Pick<Hub, 'url'>;
  close(): Promise<void>;
  /** Listens again on the same port. */
  open(): Promise<void>;
}

export async function startRelay(hub: Pick<Hub, 'url'>): Promise<Relay> {
  const requests: Relayed[] = [];
  let server: Server | undefined;
  let port = 0;
  const listen = () =>
    new Promise<void>((resolve) => {
      server = createServer((incoming, outgoing) => {
        // A client that is killed breaks its request off.
        pass(incoming, outgoing).catch(() => outgoing.destroy());
      });
      server.listen(port, '127.0.0.1', () => {
        port = portOf(server);
        resolve();
      });
    });
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const asked = { method: incoming.method ?? 'GET', path: incoming.url ?? '/', body: body.toString('utf8') };
    requests.push(asked);
    await relay.rules.holds?.(asked);
    const own = relay.rules.answers?.(asked);
    if (own !== undefined) return void outgoing.writeHead(own.status, { 'Content-Type': 'text/plain' }).end(own.body);
    const url = new URL(asked.path, relay.target.url);
    const onward = request(
      url,
      { method: incoming.method, headers: { ...incoming.headers, host: url.host } },
      (answer) => {
        const received: Buffer[] = [];
        answer.on('data', (part: Buffer) => received.push(part));
        answer.on('end', () => {
          if (relay.rules.drops?.(asked) === true) return void outgoing.destroy();
          const whole = Buffer.concat(received);
          const text = relay.rules.rewrites?.(whole.toString('utf8'), asked) ?? whole;
          const { 'content-length': _, 'transfer-encoding': __, ...headers } = answer.headers;
          outgoing
            .writeHead(answer.statusCode ?? 500, { ...headers, 'Content-Length': Buffer.byteLength(text) })
            .end(text);
        });
      },
    );
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(body);
  };
  const relay: Relay = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    requests,
    rules: {},
    target: hub,
    open: listen,
    async close() {
      const closing = server;
      if (closing === undefined) return;
      server = undefined;
      await new Promise<void>((resolve) => {
        closing.close(() => resolve());
        closing.closeAllConnections();
      });
    },
  };
  await listen();
  return relay;
}

function portOf(server: Server | undefined): number {
  const address = server?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the relay does not listen');
  return address.port;
}
