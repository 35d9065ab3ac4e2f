/**
 * Sends one HTTP request of the command line, with a deadline and a size limit for the answer. Redirects are not
 * followed, so a credential never reaches another server.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';

import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { version } from '../common/version.ts';
import { limits } from '../limits/service.ts';
import { ClientError, NotSignedIn, Unreachable } from './client-error.ts';
import type { Pace } from './pace.ts';
import { type HttpProxy, proxyAway, shownProxy } from './proxy.ts';
import { proxyOf } from './settings.ts';
import type { ThroughOptions } from './tunnel.ts';

export interface ClientRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Seconds until the complete answer must have arrived. */
  readonly seconds?: number;
  /** Replaces `seconds`: the longest period in seconds without a byte in either direction. The total is unlimited. */
  readonly idleSeconds?: number;
  /** Speed limits of sending the body and reading the answer; undefined: unlimited. */
  readonly upload?: Pace | undefined;
  readonly download?: Pace | undefined;
  readonly bytesMax?: number;
  /** Reports the bytes of the body as they leave, and those of the answer as they arrive. */
  readonly onSent?: TransferProgress;
  readonly onReceived?: TransferProgress;
  /** Receives an NDJSON answer line by line, as it arrives; `bytes` of the answer is then empty. */
  readonly onLine?: (line: Buffer) => void;
  /** Receives the body of a 200 or 206 part by part, as it arrives; `bytes` of the answer is then empty. */
  readonly onPart?: (part: Buffer) => void;
  /** Cancels the request; the error is the same as for an unreachable hub. */
  readonly signal?: AbortSignal;
}

export type TransferProgress = (bytes: number, bytesTotal: number) => void;

export interface ClientAnswer {
  readonly status: number;
  /** A header, by lower-case name. */
  header(name: string): string | undefined;
  readonly bytes: Buffer;
  /** The parsed body; undefined when it is not JSON. */
  json(): unknown;
}

const SLICE_BYTES = 256 * 1024;
const PACED_BYTES = 16 * 1024;
const LINES = 'application/x-ndjson';
const NEWLINE = 0x0a;

/** Wraps an error thrown by the `onLine` or `onPart` callback. */
class TakerFailed extends Error {}

/** Sends one request to a path of a hub. Throws Unreachable. Any HTTP status is a normal answer. */
export async function sendRequest(server: string, path: string, request: ClientRequest = {}): Promise<ClientAnswer> {
  await closedConnections();
  const { method = 'GET', headers, body, seconds = limits.clientSecondsDefault } = request;
  const proxy = proxyOf(server);
  const open = await openerFor(server, proxy);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const length = bytes === undefined ? {} : { 'Content-Length': String(bytes.length) };
  const late = new Deadline(request.idleSeconds ?? seconds, request.idleSeconds !== undefined);
  const signal = request.signal === undefined ? late.signal : AbortSignal.any([late.signal, request.signal]);
  return new Promise((resolve, reject) => {
    // Errors of the callbacks for the body are passed on unchanged.
    const fail = (error: NodeJS.ErrnoException) =>
      reject(error instanceof TakerFailed ? error.cause : unreachable({ server, proxy }, late, error));
    const outgoing = open(
      `${server}${path}`,
      { method, headers: { 'User-Agent': `cairn/${version}`, ...length, ...headers }, signal },
      (incoming) => {
        collect(incoming, request, late).then((bytes) => resolve(answerOf(incoming, bytes)), fail);
      },
    );
    outgoing.on('error', fail);
    outgoing.on('close', () => late.end());
    if (bytes === undefined) outgoing.end();
    else Readable.from(slices(bytes, request, late)).pipe(outgoing);
  });
}

type Opener = (
  address: string,
  options: ThroughOptions,
  answered: (incoming: IncomingMessage) => void,
) => ReturnType<typeof httpRequest>;

/** How requests to a hub are sent: directly, or through the proxy of the environment. */
async function openerFor(server: string, proxy: HttpProxy | undefined): Promise<Opener> {
  if (proxy !== undefined) {
    const { requestThrough } = await import('./tunnel.ts');
    return (address, options, answered) => requestThrough(proxy, address, options, answered);
  }
  // TLS is a third of what a short command loads.
  return server.startsWith('https:') ? (await import('node:https')).request : httpRequest;
}

/**
 * Two rounds of the event loop: a connection that the hub closed while this process computed, such as the key of a
 * passphrase, leaves the pool of idle connections.
 */
async function closedConnections(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** The error message for a refusal of the hub. */
export function refusalOf(server: string, answer: ClientAnswer): ClientError {
  if (answer.status >= 300 && answer.status < 400) {
    return new ClientError(
      `${server} redirects to ${answer.header('location') ?? 'another address'}; pass that address with --server.`,
    );
  }
  if (answer.status === 407) {
    return new ClientError(`a proxy before ${server} wants a name and password; put them into http_proxy.`);
  }
  if (answer.status === 401) {
    return new NotSignedIn(
      `${server} does not accept this key or sign-in. Correct or unset CAIRN_KEY, or run \`cairn login --server ${server}\`.`,
    );
  }
  const body = answer.json();
  const told = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  if (typeof told === 'string') return new ClientError(`${server} refused: ${told}`);
  if (answer.status >= 500) return new Unreachable(`${server} is not available right now`, '; try again later.');
  return new ClientError(
    `${server} does not answer like a Cairn hub; check --server, and whether this network asks you to sign in first.`,
  );
}

/** Yields the body in slices, for pacing and progress reports. */
async function* slices(
  body: Uint8Array,
  { onSent, upload }: Pick<ClientRequest, 'onSent' | 'upload'>,
  late: Deadline,
): AsyncGenerator<Uint8Array> {
  const most = upload === undefined ? SLICE_BYTES : PACED_BYTES;
  for (let offset = 0; offset < body.length; offset += most) {
    const slice = body.subarray(offset, offset + most);
    await upload?.take(slice.length);
    yield slice;
    late.progress();
    onSent?.(Math.min(offset + most, body.length), body.length);
  }
}

async function collect(
  incoming: IncomingMessage,
  { bytesMax, onReceived, onLine, onPart, download }: ClientRequest,
  late: Deadline,
): Promise<Buffer> {
  const most = bytesMax ?? limits.clientAnswerBytesMax;
  const total = Number(incoming.headers['content-length'] ?? 0);
  const isPassedOn = onPart !== undefined && (incoming.statusCode === 200 || incoming.statusCode === 206);
  const inLines = onLine !== undefined && incoming.headers['content-type'] === LINES;
  let parts: Buffer[] = [];
  let kept = 0;
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    late.progress();
    await download?.take(part.length);
    bytes += part.length;
    if (isPassedOn) {
      if (bytes > most) throw new Error(`the answer is larger than ${most} bytes`);
      taking(() => onPart(part));
      if (total > 0) onReceived?.(bytes, total);
      continue;
    }
    kept += part.length;
    parts.push(part);
    if (inLines && part.includes(NEWLINE)) {
      parts = [handOn(Buffer.concat(parts), onLine)];
      kept = parts[0]?.length ?? 0;
    }
    if (kept > most) throw new Error(`the answer is larger than ${most} bytes`);
    if (total > 0) onReceived?.(bytes, total);
  }
  return Buffer.concat(parts);
}

/** Passes every complete line to `onLine`. Returns the rest: the beginning of an incomplete line. */
function handOn(bytes: Buffer, onLine: (line: Buffer) => void): Buffer {
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    taking(() => onLine(bytes.subarray(start, end)));
    start = end + 1;
  }
  return bytes.subarray(start);
}

/** Calls a callback for the body. Throws TakerFailed with its error. */
function taking(call: () => void): void {
  try {
    call();
  } catch (error) {
    throw new TakerFailed('', { cause: error });
  }
}

function answerOf(incoming: IncomingMessage, bytes: Buffer): ClientAnswer {
  return {
    status: incoming.statusCode ?? 0,
    header(name) {
      const value = incoming.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    bytes,
    json() {
      try {
        return JSON.parse(bytes.toString('utf8')) as unknown;
      } catch {
        // The caller reports an answer that is not JSON.
        return undefined;
      }
    },
  };
}

function unreachable(
  { server, proxy }: { readonly server: string; readonly proxy: HttpProxy | undefined },
  { seconds, signal }: Deadline,
  error: NodeJS.ErrnoException,
): Unreachable {
  const of = (what: string, next: string) => new Unreachable(what, next, error.code);
  if (signal.aborted) {
    const way = proxy === undefined ? '' : ` through ${shownProxy(proxy)}`;
    return new Unreachable(`${server} did not answer within ${seconds} seconds${way}`, '; try again.');
  }
  if (error instanceof Unreachable) return error;
  // Without a tunnel, the connection is one to the proxy.
  if (proxy !== undefined && server.startsWith('http:') && error.code !== undefined) return proxyAway(proxy, error);
  switch (error.code) {
    case 'ECONNREFUSED':
      return of(`cannot connect to ${server}`, '. Start the hub with `cairn serve` or pass --server.');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return of(`the host of ${server} is not known`, '; check --server and the network.');
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return of(
        `the certificate of ${server} is not trusted (${error.code}); name its authority in NODE_EXTRA_CA_CERTS.`,
        '',
      );
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID': {
      const when = error.code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet';
      return of(
        `the certificate of ${server} ${when}, if the clock of this machine is right; the operator has to renew it.`,
        '',
      );
    }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return of(`the certificate of ${server} is for other names; check --server.`, '');
    case 'EPROTO':
      return of(`${server} does not speak TLS; check --server: the address may begin with http://.`, '');
    case 'ECONNRESET':
    case 'EPIPE':
      return of(`the connection to ${server} was interrupted`, '; try again.');
    default:
      return of(`the connection to ${server} failed: ${error.code ?? error.message}`, '; try again.');
  }
}

/** Limits the duration of a request: of the whole request, or of a period without a byte in either direction. */
class Deadline {
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly #isIdle: boolean;
  readonly #timer: NodeJS.Timeout;

  /** `isIdle`: any progress restarts the timer. */
  constructor(seconds: number, isIdle: boolean) {
    const ending = new AbortController();
    this.seconds = seconds;
    this.signal = ending.signal;
    this.#isIdle = isIdle;
    this.#timer = setTimeout(() => ending.abort(), seconds * 1000);
  }

  progress(): void {
    if (this.#isIdle) this.#timer.refresh();
  }

  /** Stops the timer after the request. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
