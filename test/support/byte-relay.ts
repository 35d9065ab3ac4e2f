/** A relay in front of a hub that passes bytes unchanged, and fails where a test says. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Hub } from './hub.ts';

/**
 * What happens to a request: `before` runs before the hub gets it, `after` once the hub answered. `refuses` answers
 * instead of the hub; `cuts` ends the connection within the answer, `stalls` goes on sending nothing there.
 */
interface RelayFault {
  readonly before?: () => void;
  readonly after?: () => void;
  readonly refuses?: { readonly status: number; readonly retryAfter?: string };
  readonly cuts?: boolean;
  readonly stalls?: boolean;
}

export interface ByteRelay {
  readonly url: string;
  /** Requests so far, as `METHOD path`. */
  readonly requests: readonly string[];
  /** Decides about the request of this number, from 0. */
  fault: (number: number, line: string) => RelayFault | undefined;
  close(): void;
}

export async function startByteRelay(hub: Pick<Hub, 'url'>): Promise<ByteRelay> {
  const requests: string[] = [];
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const line = `${incoming.method} ${incoming.url}`;
    const fault = relay.fault(requests.push(line) - 1, line);
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    fault?.before?.();
    if (fault?.refuses !== undefined) {
      const { status, retryAfter } = fault.refuses;
      outgoing.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end('{"error":"busy"}');
      return;
    }
    const url = new URL(incoming.url ?? '/', hub.url);
    const onward = request(
      url,
      { method: incoming.method, headers: { ...incoming.headers, host: url.host } },
      (answer) => {
        fault?.after?.();
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        if (fault?.cuts !== true && fault?.stalls !== true) answer.pipe(outgoing);
        else
          answer.once('data', (part: Buffer) =>
            outgoing.write(part.subarray(0, part.length / 2), () => fault.cuts === true && outgoing.destroy()),
          );
      },
    );
    onward.on('error', () => outgoing.destroy());
    onward.end(Buffer.concat(parts));
  };
  const server = createServer((incoming, outgoing) => {
    // A client that is killed breaks its request off.
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const relay: ByteRelay = {
    url: `http://127.0.0.1:${port}`,
    requests,
    fault: () => undefined,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return relay;
}
