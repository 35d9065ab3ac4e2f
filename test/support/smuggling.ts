/**
 * Requests that two parties could cut at different places: an outer one, and an inner one among or after its bytes. The classes are
 * those of the smuggling literature (CL.TE, TE.CL, TE.TE, CL.0, 0.CL) and of Http11Probe (https://github.com/MDA2AV/Http11Probe).
 */
import { NEVER_ANSWERED, REFUSED } from './bad-framing.ts';
import { CLOSED, SERVED, SILENT } from './http-probe.ts';
import { head } from './raw.ts';

const POST = 'POST /api/cert_mirror/credentials HTTP/1.1';

type Case = (inner: string, own: readonly string[]) => string;

const BASIC: Readonly<Record<string, Case>> = {
  'an inner request as the declared body': (inner, own) =>
    head(POST, [...own, `Content-Length: ${inner.length}`]) + inner,
  'CL.TE': (inner, own) =>
    `${head(POST, [...own, `Content-Length: ${inner.length + 5}`, 'Transfer-Encoding: chunked'])}0\r\n\r\n${inner}`,
  'TE.CL': (inner, own) =>
    `${head(POST, [...own, 'Transfer-Encoding: chunked', 'Content-Length: 4'])}${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  'TE.TE, one of them odd': (inner, own) =>
    `${head(POST, [...own, `Content-Length: ${inner.length + 5}`, 'Transfer-Encoding: chunked', 'Transfer-Encoding: cow'])}0\r\n\r\n${inner}`,
  'TE with a space before the colon': (inner, own) =>
    `${head(POST, [...own, `Content-Length: ${inner.length + 5}`, 'Transfer-Encoding : chunked'])}0\r\n\r\n${inner}`,
  'TE with a tab': (inner, own) =>
    `${head(POST, [...own, `Content-Length: ${inner.length + 5}`, 'Transfer-Encoding:\tchunked'])}0\r\n\r\n${inner}`,
  'TE xchunked': (inner, own) =>
    `${head(POST, [...own, `Content-Length: ${inner.length + 5}`, 'Transfer-Encoding: xchunked'])}0\r\n\r\n${inner}`,
  'two lengths': (inner, own) =>
    `${head(POST, [...own, 'Content-Length: 0', `Content-Length: ${inner.length}`])}${inner}`,
  'a length with a plus': (inner, own) => `${head(POST, [...own, `Content-Length: +${inner.length}`])}${inner}`,
  'a length behind a byte above 0x7F': (inner, own) =>
    `${head(POST, [...own, `Content-Length: \u00a00${inner.length}`])}${inner}`,
  'a field without a name that hides a length': (inner, own) =>
    `${head(POST, [...own, ': x', `Content-Length: ${inner.length}`])}${inner}`,
  'a trailer that is a request': (inner, own) =>
    `${head(POST, [...own, 'Transfer-Encoding: chunked'])}2\r\n{}\r\n0\r\n${inner}`,
  'a chunk extension with a line end': (inner, own) =>
    `${head(POST, [...own, 'Transfer-Encoding: chunked'])}2;\nxx\r\n{}\r\n0\r\n\r\n${inner}`,
  'an empty chunk size': (inner, own) =>
    `${head(POST, [...own, 'Transfer-Encoding: chunked'])}2\r\n{}\r\n\r\n\r\n${inner}`,
  'bytes after a chunk': (inner, own) =>
    `${head(POST, [...own, 'Transfer-Encoding: chunked'])}2\r\n{}xx\r\n0\r\n\r\n${inner}`,
  'a chunk size beyond 64 bits': (inner, own) =>
    `${head(POST, [...own, 'Transfer-Encoding: chunked'])}10000000000000002\r\n{}\r\n0\r\n\r\n${inner}`,
  'a folded Transfer-Encoding': (inner, own) =>
    `${head(POST, [...own, `Content-Length: ${inner.length + 5}`, 'Transfer-Encoding:\r\n chunked'])}0\r\n\r\n${inner}`,
  'a GET with a body': (inner) => head('GET /health HTTP/1.1', [`Content-Length: ${inner.length}`]) + inner,
  'Expect and a body': (inner, own) =>
    head(POST, [...own, 'Expect: 100-continue', `Content-Length: ${inner.length}`]) + inner,
};

/** Ways to write that a body is chunked, beside a length that says otherwise. */
const CODINGS: readonly string[] = [
  'Transfer-Encoding: chunked ',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: chunked, gzip',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: , chunked',
  'Transfer-Encoding: chunked,',
  'Transfer-Encoding: chunked;ext=val',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: \vchunked',
  'Transfer-Encoding: \fchunked',
  'Transfer-Encoding: chunked\0',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: ',
  'Transfer_Encoding: chunked',
  'Transfer-Encoding\0: chunked',
  'Transfer-Encoding\v: chunked',
  '\u00a0Transfer-Encoding: chunked',
  'X-A: a\rTransfer-Encoding: chunked',
  'X-A: a\nTransfer-Encoding: chunked',
  'Content-Encoding: chunked\r\nConnection: Transfer-Encoding\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Foo: bar\r\n\tTransfer-Encoding: chunked',
];

/** Ways to write a length; `N` stands for that of the inner request. */
const LENGTHS: readonly string[] = [
  'Content-Length: 00N',
  'Content-Length: N, N',
  'Content-Length: N, 0',
  'Content-Length: 0, N',
  'Content-Length: -N',
  'Content-Length: 0xN',
  'Content-Length: 0oN',
  'Content-Length: N_0',
  'Content-Length: N N',
  'Content-Length: N\v',
  'Content-Length: N.0',
  'Content-Length: Ne0',
  'Content-Length:\r\n N',
  'Content_Length: N',
  'Content-Length : N',
  'Content-Length\0: N',
  'Connection: Content-Length\r\nContent-Length: N',
  'X-A: a\rContent-Length: N',
  'X-A: a\nContent-Length: N',
  'Expect: y 100-continue\r\nContent-Length: N',
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: N',
];

/** Chunked bodies that end at different places for different readers; the inner request comes after them. */
const CHUNKS: readonly string[] = [
  '2;\r\n{}\r\n0\r\n\r\n',
  '2;bad[=x\r\n{}\r\n0\r\n\r\n',
  '2;a\rX\r\n{}\r\n0\r\n\r\n',
  '2;a\0b\r\n{}\r\n0\r\n\r\n',
  ' 2\r\n{}\r\n0\r\n\r\n',
  '2 \r\n{}\r\n0\r\n\r\n',
  '0x2\r\n{}\r\n0\r\n\r\n',
  '+2\r\n{}\r\n0\r\n\r\n',
  '-2\r\n{}\r\n0\r\n\r\n',
  '2_0\r\n{}\r\n0\r\n\r\n',
  '0002\r\n{}\r\n0\r\n\r\n',
  '2\r{}\r\n0\r\n\r\n',
  '2\n{}\n0\n\n',
  '2\r\n{}\n0\r\n\r\n',
  '2\r\n{}0\r\n\r\n',
  '2\r\n{}\r\n0\r\n\n',
  '2\r\n{}\r\n0\r\nContent-Length: 50\r\n\r\n',
  '2\r\n{}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n',
  '2\r\n{}\r\n0\r\nHost: other.example.org\r\n\r\n',
  '2\r\n{}\r\n0\r\nX: a\r\n b\r\n\r\n',
];

const OTHERS: Readonly<Record<string, Case>> = {
  'HEAD with a body': (inner) => head('HEAD /health HTTP/1.1', [`Content-Length: ${inner.length}`]) + inner,
  'OPTIONS with a body': (inner) => head('OPTIONS /health HTTP/1.1', [`Content-Length: ${inner.length}`]) + inner,
  'GET with a chunked body': (inner) =>
    `${head('GET /health HTTP/1.1', ['Transfer-Encoding: chunked'])}${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  'HTTP/1.0 and TE': (inner, own) =>
    `${head(POST.replace('1.1', '1.0'), [...own, `Content-Length: ${inner.length + 5}`, 'Transfer-Encoding: chunked'])}0\r\n\r\n${inner}`,
  'a line before the request': (inner, own) => `\r\n${head(POST, [...own, `Content-Length: ${inner.length}`])}${inner}`,
  'absolute form of another host': (inner) =>
    head('GET http://other.example.org/health HTTP/1.1', [`Content-Length: ${inner.length}`]) + inner,
  'two hosts in one field': (inner, own) =>
    head(POST, [...own, 'X-Forwarded-Host: a, b', `Content-Length: ${inner.length}`]) + inner,
  'a path with an encoded line end': (inner) =>
    head('GET /health%0d%0aContent-Length:%200 HTTP/1.1', [`Content-Length: ${inner.length}`]) + inner,
};

/** What is refused for its framing alone, and what the other tests of Http11Probe send: the inner request comes after it. */
const FOLLOWED: readonly (readonly [name: string, bytes: string])[] = [
  ...REFUSED,
  ...NEVER_ANSWERED,
  ...[...Object.values(SERVED), CLOSED, SILENT].flatMap((cases) => Object.entries(cases)),
];

const shown = (text: string) => JSON.stringify(text).slice(1, -1);

/** The outer request: what stands before the inner one, whose bytes and length are given. */
export const CASES: Readonly<Record<string, Case>> = {
  ...BASIC,
  ...Object.fromEntries(
    CODINGS.map((field): [string, Case] => [
      `a length and ${shown(field)}`,
      (inner, own) => `${head(POST, [...own, `Content-Length: ${inner.length + 5}`, field])}0\r\n\r\n${inner}`,
    ]),
  ),
  ...Object.fromEntries(
    LENGTHS.map((field): [string, Case] => [
      shown(field),
      (inner, own) => head(POST, [...own, field.replaceAll('N', String(inner.length))]) + inner,
    ]),
  ),
  ...Object.fromEntries(
    CHUNKS.map((body): [string, Case] => [
      `a body of ${shown(body)}`,
      (inner, own) => head(POST, [...own, 'Transfer-Encoding: chunked']) + body + inner,
    ]),
  ),
  ...OTHERS,
  ...Object.fromEntries(FOLLOWED.map(([name, bytes]): [string, Case] => [`after ${name}`, (inner) => bytes + inner])),
};
