/**
 * Owns strict request framing (RFC 9112), because the HTTP library is lenient: two parties that disagree on where a
 * request ends let one be smuggled behind a proxy. Pure: header pairs in, a sentence or nothing out.
 */

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** What is wrong with the framing headers; undefined when nothing is. */
export function framingFault(pairs: HeaderPairs): string | undefined {
  let hosts = 0;
  let lengths = 0;
  let encodings = 0;
  for (const pair of pairs) {
    const name = pair[0];
    const value = pair[1];
    if (name === '') return 'a header has no name';
    if (name === 'host') hosts += value.trim() === '' ? 2 : 1;
    else if (name === 'content-length') {
      lengths += 1;
      if (!/^\d+$/.test(value)) return 'Content-Length must be digits only';
    } else if (name === 'transfer-encoding') {
      encodings += 1;
      if (value.toLowerCase() !== 'chunked') return 'the only Transfer-Encoding accepted is chunked';
    }
  }
  if (hosts !== 1) return 'send exactly one non-empty Host header';
  if (lengths > 1) return 'send at most one Content-Length header';
  if (encodings > 1) return 'send at most one Transfer-Encoding header';
  if (lengths > 0 && encodings > 0) return 'send Content-Length or Transfer-Encoding, not both';
  return undefined;
}
