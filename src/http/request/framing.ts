/**
 * Enforces strict request framing (RFC 9112), because the HTTP library is lenient: if a proxy and the hub disagree on
 * where a request ends, another request can be smuggled in. Pure: takes header pairs, returns a sentence or undefined.
 */

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** host[:port] (RFC 9110, 7.2): a name, an IPv4 address, or an IPv6 address in brackets; no userinfo, path or list. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Returns what is wrong with the framing headers, or undefined. */
export function framingFault(pairs: HeaderPairs): string | undefined {
  let hosts = 0;
  let lengths = 0;
  let encodings = 0;
  for (const pair of pairs) {
    const name = pair[0];
    const value = pair[1];
    if (name === '') return 'a header has no name';
    if (name === 'host') {
      hosts += 1;
      if (!HOST.test(value)) return 'Host must be host or host:port, such as hub.example.org:8787';
    } else if (name === 'content-length') {
      lengths += 1;
      if (!/^\d+$/.test(value)) return 'Content-Length must be digits only';
    } else if (name === 'transfer-encoding') {
      encodings += 1;
      if (value.toLowerCase() !== 'chunked') return 'the only Transfer-Encoding accepted is chunked';
    }
  }
  if (hosts !== 1) return 'send exactly one Host header';
  if (lengths > 1) return 'send at most one Content-Length header';
  if (encodings > 1) return 'send at most one Transfer-Encoding header';
  if (lengths > 0 && encodings > 0) return 'send Content-Length or Transfer-Encoding, not both';
  return undefined;
}
