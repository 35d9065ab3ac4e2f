/** Owns the head of one request: what is gone when the library's callback returns, copied in one pass. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { limits } from '../../limits/service.ts';
import { addressBlock } from './address-block.ts';
import { peerAddress } from './client-address.ts';
import type { HeaderPairs } from './framing.ts';

/** A head as it came in. */
export interface HeadFields {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peer: string;
  readonly pairs: HeaderPairs;
}

/** Copies a head, within the callback of the library. */
export function readHead(res: HttpResponse, req: HttpRequest): HeadFields {
  const pairs: (readonly [string, string])[] = [];
  req.forEach((name, value) => {
    pairs.push([name, value]);
  });
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    // The library gives undefined for none, whatever its types say.
    query: (req.getQuery() as string | undefined) ?? '',
    peer: peerAddress(res.getRemoteAddressAsText()),
    pairs,
  };
}

export class RequestHead {
  /** The caller's own id when it is harmless to repeat in a header and a log line, else a new one. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
  /** The client's address, as far as the proxies in front are trusted. */
  readonly address: string;
  /** What limits and shares are counted by: the address, or the block of one IPv6 subscriber. */
  readonly addressBlock: string;
  readonly pairs: HeaderPairs;
  /** The address that the connection came from. */
  readonly peer: string;
  /** Content-Length, or undefined. Meaningful once the framing was checked. */
  readonly bytesDeclared: number | undefined;
  readonly hasBody: boolean;
  /** The body comes in chunks, whose ends the library reads leniently: nothing after it may be taken for a request. */
  readonly isChunked: boolean;

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
    this.address = clientAddress(peer, this.header('x-forwarded-for'));
    this.addressBlock = addressBlock(this.address);
    const declared = this.header('content-length');
    this.bytesDeclared = declared === undefined ? undefined : Number(declared);
    this.isChunked = this.header('transfer-encoding') !== undefined;
    this.hasBody = (this.bytesDeclared ?? 0) > 0 || this.isChunked;
  }

  /** A header by its lower-case name; repeated ones joined with a comma. */
  header(wanted: string): string | undefined {
    let found: string | undefined;
    for (const pair of this.pairs) {
      if (pair[0] === wanted) found = found === undefined ? pair[1] : `${found}, ${pair[1]}`;
    }
    return found;
  }
}

function requestId(given: string | undefined): string {
  const usable = given !== undefined && /^[A-Za-z0-9._-]+$/.test(given) && given.length <= limits.requestIdCharsMax;
  return usable ? given : randomUUID();
}
