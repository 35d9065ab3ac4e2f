/** Requests whose framing is wrong, by what the hub does with them, and endings of chunked bodies that others end elsewhere. */
import { head } from './raw.ts';

const POST = 'POST /api/cert_mirror/credentials HTTP/1.1';
const EMPTY_CHUNKED = '0\r\n\r\n';

/** A head with these lines, and what follows it as the body. */
export type Trick = readonly [name: string, bytes: string];

/** Refused at once, by the library or by the front door. */
export const REFUSED: readonly Trick[] = [
  ['no Host', head('GET /ready HTTP/1.1', [], { host: false })],
  ['a second Host', head('GET /ready HTTP/1.1', ['Host: other.test'])],
  ['the same Host twice', head('GET /ready HTTP/1.1', ['Host: cairn.test'])],
  ['an empty Host', head('GET /ready HTTP/1.1', ['Host:'], { host: false })],
  ['a blank Host', head('GET /ready HTTP/1.1', ['Host:   '], { host: false })],
  ...[
    'a.test, b.test',
    'a.test b.test',
    'user@a.test',
    'a.test/',
    'a.test/ready',
    'a.test:',
    'a.test:80:80',
    'a.test:x',
  ].map((host): Trick => [`Host: ${host}`, head('GET /ready HTTP/1.1', [`Host: ${host}`], { host: false })]),
  ...['a.test:123456', 'http://a.test', '[::1', '::1', '[a.test]', 'a%2etest', 'a.test?', 'a.test#', "a';--"].map(
    (host): Trick => [`Host: ${host}`, head('GET /ready HTTP/1.1', [`Host: ${host}`], { host: false })],
  ),
  ['a target in absolute form', head('GET http://cairn.test/ready HTTP/1.1')],
  ['a target in absolute form of another host', head('GET http://other.test/ready HTTP/1.1')],
  ['OPTIONS *', head('OPTIONS * HTTP/1.1')],
  ['a target in authority form', head('CONNECT cairn.test:80 HTTP/1.1')],
  ['a target without a slash', head('GET ready HTTP/1.1')],
  ['HTTP/1.0', head('GET /ready HTTP/1.0')],
  ['the same Content-Length twice', `${head(POST, ['Content-Length: 2', 'Content-Length: 2'])}{}`],
  ['conflicting Content-Length, the longer last', `${head(POST, ['Content-Length: 2', 'Content-Length: 60'])}{}`],
  ['conflicting Content-Length, the longer first', `${head(POST, ['Content-Length: 60', 'Content-Length: 2'])}{}`],
  ['a list of Content-Length', `${head(POST, ['Content-Length: 2, 2'])}{}`],
  ['Content-Length and chunked', head(POST, ['Content-Length: 5', 'Transfer-Encoding: chunked']) + EMPTY_CHUNKED],
  ['chunked and Content-Length', head(POST, ['Transfer-Encoding: chunked', 'Content-Length: 5']) + EMPTY_CHUNKED],
  ['Content-Length and an empty Transfer-Encoding', `${head(POST, ['Content-Length: 2', 'Transfer-Encoding:'])}{}`],
  ['an empty Transfer-Encoding', head(POST, ['Transfer-Encoding:'])],
  ['Transfer-Encoding: xchunked', head(POST, ['Transfer-Encoding: xchunked']) + EMPTY_CHUNKED],
  ['Transfer-Encoding: gzip, chunked', head(POST, ['Transfer-Encoding: gzip, chunked']) + EMPTY_CHUNKED],
  ['Transfer-Encoding: chunked, identity', head(POST, ['Transfer-Encoding: chunked, identity']) + EMPTY_CHUNKED],
  ['Transfer-Encoding: identity', head(POST, ['Transfer-Encoding: identity'])],
  ['Transfer-Encoding twice', head(POST, ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']) + EMPTY_CHUNKED],
  [
    'Transfer-Encoding twice, one of them odd',
    head(POST, ['Transfer-Encoding: chunked', 'Transfer-Encoding: cow']) + EMPTY_CHUNKED,
  ],
  ['an empty Content-Length', head(POST, ['Content-Length:'])],
  ['Content-Length: +2', `${head(POST, ['Content-Length: +2'])}{}`],
  ['Content-Length: 0x2', `${head(POST, ['Content-Length: 0x2'])}{}`],
  ['Content-Length: -1', `${head(POST, ['Content-Length: -1'])}{}`],
  ['Content-Length: 2.0', `${head(POST, ['Content-Length: 2.0'])}{}`],
  ['Content-Length: 1 0', `${head(POST, ['Content-Length: 1 0'])}{}`],
  ['a Content-Length beyond 64 bits', `${head(POST, ['Content-Length: 18446744073709551618'])}{}`],
  ['bare LF line ends', 'GET /ready HTTP/1.1\nHost: cairn.test\nUser-Agent: cairn-test/1\n\n'],
  ['a negative chunk size', `${head(POST, ['Transfer-Encoding: chunked'])}-1\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size with a prefix', `${head(POST, ['Transfer-Encoding: chunked'])}0x2\r\n{}\r\n0\r\n\r\n`],
];

/** The library cannot read these as a request. Its newer build refuses them; the older closes when its header time is over. */
export const NEVER_ANSWERED: readonly Trick[] = [
  ['no headers at all', 'GET /ready HTTP/1.1\r\n\r\n'],
  ['a folded line', `${head(POST, ['X-Folded: a\r\n Content-Length: 2'])}{}`],
  ['a space before the colon of Content-Length', `${head(POST, ['Content-Length : 2'])}{}`],
  ['a space before the colon of Transfer-Encoding', head(POST, ['Transfer-Encoding : chunked']) + EMPTY_CHUNKED],
  ['a control character before chunked', head(POST, ['Transfer-Encoding: \u000bchunked']) + EMPTY_CHUNKED],
  ['one bare LF between two headers', head('GET /ready HTTP/1.1', ['X-First: a\nX-Second: b'])],
  ['a bare CR in a value', head('GET /ready HTTP/1.1', ['X-First: a\rX-Second: b'])],
  ['a NUL in a value', head('GET /ready HTTP/1.1', ['X-First: a\u0000b'])],
];

/** Endings of a chunked body that others end elsewhere, or not at all; each is followed by a request of its own. */
export const ENDINGS: readonly Trick[] = [
  ['nothing else', '2\r\n{}\r\n0\r\n\r\n'],
  ['an empty chunk size', '2\r\n{}\r\n\r\n\r\n'],
  ['bytes between a chunk and its end', '2\r\n{}xx\r\n0\r\n\r\n'],
  ['two bytes in place of the last line end', '2\r\n{}\r\n0\r\nXX'],
  ['a trailer', '2\r\n{}\r\n0\r\nX-Trailer: a\r\n\r\n'],
  ['a trailer that looks like a request', '2\r\n{}\r\n0\r\nGET /health HTTP/1.1\r\n\r\n'],
  ['an extension', '2;a=b\r\n{}\r\n0\r\n\r\n'],
  ['an extension that reads as hex', '2;f\r\n{}\r\n0\r\n\r\n'],
  ['line ends without CR', '2\n{}\n0\n\n'],
];

const LAST_FIELDS = ['Connection: close', 'Connection: TE, Close', 'Transfer-Encoding: chunked'];
const LAST_LINES = [
  'GET /health',
  'HEAD /ready',
  'OPTIONS /ready',
  'POST /nowhere',
  'POST /api/cert_mirror',
  'GET /signin',
];

/** Whole requests after which nothing may be handled. Their answers need no wait. */
export const LAST: readonly Trick[] = LAST_FIELDS.flatMap((field) =>
  LAST_LINES.map((line): Trick => {
    const body = field.startsWith('Transfer') ? EMPTY_CHUNKED : '';
    return [`${line} with ${field}`, head(`${line} HTTP/1.1`, [field]) + body];
  }),
);
