/** An HTTP proxy of a company: the only way to hosts that this machine does not know. */
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Certificate } from './certificate.ts';

export interface ConnectProxy {
  readonly port: number;
  /** What it was asked, as `CONNECT host:port` or `GET http://…`, with the credential that came along. */
  readonly asked: readonly string[];
  /** Settles when a connection that it was asked over is closed. */
  readonly closed: Promise<void>;
}

interface Wish {
  /** Answers all with this status. */
  readonly refuses?: number;
  /** Never answers. */
  readonly isMute?: boolean;
  /** Is reached by TLS. */
  readonly certificate?: Certificate;
}

/** Starts one until the end of the test. Every host is this machine to it. */
export async function connectProxy({ refuses, isMute, certificate }: Wish = {}): Promise<ConnectProxy> {
  const asked: string[] = [];
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const server =
    certificate === undefined
      ? createServer()
      : createTlsServer({ cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) });
  server.on('request', (incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`.trim());
    const { port, pathname, search } = new URL(incoming.url ?? '');
    if (refuses !== undefined) return void outgoing.writeHead(refuses).end('refused');
    const { method, headers } = incoming;
    const onward = request({ host: '127.0.0.1', port, path: pathname + search, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`.trim());
    socket.once('close', close);
    // Whoever asked may go away at any moment.
    socket.on('error', () => undefined);
    if (isMute === true) return void socket.once('end', () => socket.end()).resume();
    if (refuses !== undefined) return void socket.end(`HTTP/1.1 ${refuses} Refused\r\n\r\n`);
    const onward = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const [one, other] of [
      [onward, socket],
      [socket, onward],
    ] as const) {
      one.on('error', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked, closed };
}
