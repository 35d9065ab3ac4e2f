/** Child program: builds and signs uploads, waits for `go`, sends them over bare keep-alive sockets. */
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { AGENT } from '../test/support/http.ts';
import { randomCommit, uploadHeaders } from '../test/support/mirror.ts';
import type { ClientJob, ClientResult } from './client.ts';
import { runProgram } from './peers/child.ts';

/** Bytes at the start of each body, different in every body; the rest is shared by all. */
const OWN_BYTES = 64;
/** The hub's Retry-After. */
const RETRY_MS = 1000;

interface Upload {
  readonly parts: readonly Uint8Array[];
  readonly file: string | undefined;
}

process.once('message', (job: ClientJob) => {
  const lanes = prepare(job);
  process.once('message', () => {
    void run(job, lanes).then((result) => process.send?.(result));
  });
  process.send?.('ready');
});

function prepare(job: ClientJob): Upload[][] {
  const body = randomBytes(job.bodyBytes);
  return Array.from({ length: job.connections }, () =>
    Array.from({ length: job.requestsPerConnection }, () => prepareOne(job, body)),
  );
}

function prepareOne({ credential, storeFolder, port }: ClientJob, body: Buffer): Upload {
  const own = randomBytes(OWN_BYTES);
  own.copy(body);
  const name = randomCommit();
  const headers = {
    Host: `127.0.0.1:${port}`,
    'User-Agent': AGENT,
    'Content-Length': String(body.length),
    ...(credential === undefined ? {} : uploadHeaders(credential, name, body)),
  };
  const line = credential === undefined ? `PUT /${name}` : 'POST /api/cert_mirror';
  const fields = Object.entries(headers).map(([field, value]) => `${field}: ${value}\r\n`);
  const head = Buffer.from(`${line} HTTP/1.1\r\n${fields.join('')}\r\n`, 'latin1');
  return {
    parts: [Buffer.concat([head, own]), body.subarray(OWN_BYTES)],
    file: storeFolder === undefined ? undefined : join(storeFolder, name),
  };
}

async function run(job: ClientJob, lanes: readonly Upload[][]): Promise<ClientResult> {
  const statuses: Record<string, number> = {};
  const requestMs: number[] = [];
  const startMs = performance.now();
  await Promise.all(
    lanes.map(async (uploads) => {
      const socket = await openSocket(job.port);
      for (const upload of uploads) {
        const sentMs = performance.now();
        const status = await exchangeUntilTaken(socket, upload);
        if (upload.file !== undefined) {
          await Promise.all([sync(upload.file), ...(job.isDigested === true ? digestsOf(upload.file) : [])]);
        }
        requestMs.push(performance.now() - sentMs);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      socket.destroy();
    }),
  );
  return { ms: performance.now() - startMs, statuses, requestMs };
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Retries an upload, as a client should, while the hub is too busy. */
async function exchangeUntilTaken(socket: Socket, upload: Upload): Promise<string> {
  let status = await exchange(socket, upload);
  while (status === '503') {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    status = await exchange(socket, upload);
  }
  return status;
}

/** Sends one upload and resolves with the status after the whole response; `broken` when the connection ended first. */
function exchange(socket: Socket, { parts }: Upload): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const finish = (status: string) => {
      socket.off('data', onData);
      socket.off('close', onClose);
      resolve(status);
    };
    const onClose = () => finish('broken');
    const onData = (data: Buffer) => {
      text += data.toString('latin1');
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0);
      if (text.length >= headEnd + 4 + length) finish(text.slice(9, 12));
    };
    socket.on('data', onData);
    socket.once('close', onClose);
    socket.cork();
    for (const part of parts) socket.write(part);
    socket.uncork();
  });
}

async function sync(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.sync();
  await handle.close();
}

/** The two digests that the hub checks, by a process each. */
function digestsOf(file: string): Promise<string>[] {
  const key = ['-mac', 'HMAC', '-macopt', `hexkey:${'0b'.repeat(32)}`];
  return [[], key].map((how) => runProgram('openssl', ['dgst', '-sha256', ...how, file]));
}
