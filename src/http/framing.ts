/**
 * Owns strict request framing (RFC 9112), because the HTTP library is lenient: two parties that disagree on where a
 * request ends let one be smuggled behind a proxy. Pure: header pairs in, a sentence or nothing out.
 */

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** What is wrong with the framing headers; undefined when nothing is. */
export function framingFault(pairs: HeaderPairs): string | undefined {
  if (pairs.some(([name]) => name === '')) return 'a header has no name';
  const values = (wanted: string) => pairs.filter(([name]) => name === wanted).map(([, value]) => value);
  const hosts = values('host');
  if (hosts.length !== 1 || hosts[0]?.trim() === '') return 'send exactly one non-empty Host header';
  const lengths = values('content-length');
  if (lengths.length > 1) return 'send at most one Content-Length header';
  if (lengths[0] !== undefined && !/^\d+$/.test(lengths[0])) return 'Content-Length must be digits only';
  const encodings = values('transfer-encoding');
  if (encodings.length > 1) return 'send at most one Transfer-Encoding header';
  if (encodings[0] !== undefined && encodings[0].toLowerCase() !== 'chunked') {
    return 'the only Transfer-Encoding accepted is chunked';
  }
  if (lengths.length > 0 && encodings.length > 0) return 'send Content-Length or Transfer-Encoding, not both';
  return undefined;
}
