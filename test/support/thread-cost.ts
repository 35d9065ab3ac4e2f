/** Processor time of the hub's thread for a request, under a fixed load. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Hub } from './hub.ts';

export interface Repeated {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with POST; without it the request is GET. */
  readonly body?: string;
  /** Of every answer; default 200. */
  readonly status?: number;
}

const CONNECTIONS = 32;

/** Microseconds on a processor of the main thread of a process (schedstat of Linux). */
function mainThreadUs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

/** Sends the same request `count` times over 32 connections, and resolves with the time of one in the hub's thread. */
export async function costOf(hub: Pick<Hub, 'url' | 'process'>, request: Repeated, count: number): Promise<number> {
  const bytes = bytesOf(request);
  const { hostname, port } = new URL(hub.url);
  const pid = hub.process.pid ?? 0;
  const before = mainThreadUs(pid);
  let left = count;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      lane({ port: Number(port), host: hostname }, bytes, request.status ?? 200, () => left-- > 0),
    ),
  );
  return (mainThreadUs(pid) - before) / count;
}

function bytesOf({ path, headers, body }: Repeated): string {
  const fields = { Host: 'localhost', 'Content-Length': body === undefined ? undefined : Buffer.byteLength(body) };
  const lines = Object.entries({ ...fields, ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return [`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`, ...lines, '', body ?? ''].join('\r\n');
}

/** One connection, one request at a time. Rejects when an answer has no length or the connection ends. */
function lane(
  place: { readonly port: number; readonly host: string },
  request: string,
  status: number,
  takesOne: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(place);
    let text = '';
    const next = () => {
      if (takesOne()) socket.write(request);
      else socket.end(resolve);
    };
    socket.setEncoding('latin1');
    socket.once('connect', next);
    socket.once('error', reject);
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
      if (length === undefined || !text.startsWith(`HTTP/1.1 ${status} `)) {
        socket.destroy(new Error(`another answer than ${status} with a length: ${text.slice(0, 300)}`));
        return;
      }
      if (text.length < end + 4 + Number(length)) return;
      text = '';
      next();
    });
  });
}
