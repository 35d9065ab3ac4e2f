/** Copies the head of one request in one pass, because the library's data is invalid after its callback returns. */
import { randomFillSync } from 'node:crypto';
import { addressBlock, widestNetwork } from '../../common/networks.ts';
import { limits } from '../../limits/service.ts';
import type { HttpRequest, HttpResponse } from '../library/uws.ts';
import { peerAddress, SOMEBODY_ELSE } from './client-address.ts';
import type { HeaderPairs } from './framing.ts';

/** A request head as received. */
export interface HeadFields {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peer: string;
  readonly pairs: HeaderPairs;
}

/** Copies a head. Must be called within the callback of the library. */
export function readHead(res: HttpResponse, req: HttpRequest): HeadFields {
  const pairs: (readonly [string, string])[] = [];
  req.forEach((name, value) => {
    pairs.push([name, value]);
  });
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    // The library returns undefined for a missing query, contrary to its types.
    query: (req.getQuery() as string | undefined) ?? '',
    peer: peerAddress(res),
    pairs,
  };
}

export class RequestHead {
  /** The caller's own X-Request-Id when it is safe to repeat in a header and a log line, otherwise a new one. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Without the question mark; empty when missing. */
  readonly query: string;
  /** The client's address; forwarded addresses count only from trusted proxies. */
  readonly address: string;
  /** Key of limits and shares: the address, or the /64 block of one IPv6 subscriber. */
  readonly addressBlock: string;
  /** The widest network that the address is counted in: callers without an account take turns by it. */
  readonly widestNetwork: string;
  readonly pairs: HeaderPairs;
  /** Address of the other end of the connection. */
  readonly peer: string;
  /** Content-Length, or undefined. Valid only after the framing check. */
  readonly bytesDeclared: number | undefined;
  readonly hasBody: boolean;
  /**
   * The connection closes after the answer, because bytes after this request may belong to it: its body is chunked, and
   * the library finds the end of chunks leniently, or its length may be hidden, because the library reads no field after
   * one without a name. That may be so for a method with a body without a length, and for a request of a proxy without
   * X-Forwarded-For.
   */
  readonly endsConnection: boolean;
  /** The client asked to close the connection after the answer (RFC 9112, 9.6): the library does so at once. */
  readonly asksToClose: boolean;
  /** Nothing after this request may be handled: it ends the connection, or says so. */
  readonly isLast: boolean;
  /** The other end is a trusted proxy, which sends a request only after the answer to the one before. */
  readonly isFromProxy: boolean;

  constructor(
    { method, path, query, peer, pairs }: HeadFields,
    clientAddress: (peer: string, forwardedFor: string | undefined) => string,
  ) {
    this.pairs = pairs;
    this.id = requestId(this.header('x-request-id'));
    this.method = method;
    this.path = path;
    this.query = query;
    this.peer = peer;
    const forwardedFor = this.header('x-forwarded-for');
    this.address = clientAddress(peer, forwardedFor);
    this.isFromProxy = clientAddress(peer, SOMEBODY_ELSE) !== peer;
    this.addressBlock = addressBlock(this.address);
    this.widestNetwork = widestNetwork(this.address);
    const declared = this.header('content-length');
    this.bytesDeclared = declared === undefined ? undefined : Number(declared);
    const isChunked = this.header('transfer-encoding') !== undefined;
    const isUnframed = declared === undefined && !isChunked && BODY_METHODS.has(method);
    this.endsConnection = isChunked || isUnframed || (this.isFromProxy && forwardedFor === undefined);
    this.asksToClose = CLOSE.test(this.header('connection') ?? '');
    this.isLast = this.endsConnection || this.asksToClose;
    this.hasBody = (this.bytesDeclared ?? 0) > 0 || isChunked;
  }

  /** Returns a header by its lower-case name; repeated headers are joined with a comma. */
  header(wanted: string): string | undefined {
    let found: string | undefined;
    for (const pair of this.pairs) {
      if (pair[0] === wanted) found = found === undefined ? pair[1] : `${found}, ${pair[1]}`;
    }
    return found;
  }
}

/** Methods whose requests have a body, as far as their framing does not deny it. */
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** The option `close` in the list of Connection. */
const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

function requestId(given: string | undefined): string {
  const usable = given !== undefined && /^[A-Za-z0-9._-]+$/.test(given) && given.length <= limits.requestIdCharsMax;
  return usable ? given : newId();
}

const ID_BYTES = 16;
const random = Buffer.alloc(ID_BYTES * 256);
let randomAt = random.length;

/** 128 random bits in hex, made as one flat text: a UUID is joined from some twenty parts each time. */
function newId(): string {
  if (randomAt === random.length) {
    randomFillSync(random);
    randomAt = 0;
  }
  randomAt += ID_BYTES;
  return random.toString('hex', randomAt - ID_BYTES, randomAt);
}
