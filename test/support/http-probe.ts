/**
 * Requests of Http11Probe (https://github.com/MDA2AV/Http11Probe) that no other test sends, by what the hub must do with
 * them. What two parties could read differently is in smuggling.ts.
 */
import { head } from './raw.ts';

const GATEWAY = 'POST /api/mcp HTTP/1.1';
const JSON_TYPE = 'Content-Type: application/json';
const get = (line: string, fields: readonly string[] = []) => head(line, fields);
const ready = (...fields: string[]) => head('GET /ready HTTP/1.1', fields);
const post = (body: string, ...fields: string[]) => head(GATEWAY, [JSON_TYPE, ...fields]) + body;
const chunked = (body: string) => post(body, 'Transfer-Encoding: chunked');
const hosted = (host: string) => head('GET /ready HTTP/1.1', [`Host: ${host}`], { host: false });
const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];

type Cases = Readonly<Record<string, string>>;

/** Answered with this status; the connection goes on with the next request. */
export const SERVED: Readonly<Record<number, Cases>> = {
  200: {
    'Expect: 200-ok': ready('Expect: 200-ok'),
    'an upgrade to an unknown protocol': ready('Connection: Upgrade', 'Upgrade: made-up/1.0'),
    'an upgrade to version 99 of WebSocket': ready(...WEBSOCKET, 'Sec-WebSocket-Version: 99'),
    'Upgrade without Connection': ready('Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
    'a thousand overlapping ranges': ready(`Range: bytes=${Array(1000).fill('0-').join(',')}`),
    'an invalid range': ready('Range: bytes=abc-xyz'),
    'Accept of nothing known': ready('Accept: application/x-nonsense'),
    'a Content-Length with a space after it': post('{}', 'Content-Length: 2 '),
    'a Content-Length with a tab before it': post('{}', 'Content-Length:\t2'),
    'a Content-Length with zeros before it': post('{}', 'Content-Length: 002'),
    'Content-Length: 00': post('', 'Content-Length: 00'),
    'Content-Length: 0': post('', 'Content-Length: 0'),
    'a POST with Range': post('{}', 'Content-Length: 2', 'Range: bytes=0-10'),
    Content_Length: post('{}', 'Content-Length: 2', 'Content_Length: 99'),
    Transfer_Encoding: post('{}', 'Content-Length: 2', 'Transfer_Encoding: chunked'),
  },
  204: { 'OPTIONS with a body': `${get('OPTIONS /ready HTTP/1.1', ['Content-Length: 5'])}hello` },
  404: {
    'a fragment': get('GET /ready#fragment HTTP/1.1'),
    'a target of 7,900 characters': get(`GET /${'a'.repeat(7900)} HTTP/1.1`),
    'a target that is not ASCII': get('GET /caf\u00e9 HTTP/1.1'),
    'overlong UTF-8': get('GET /\u00c0\u00af HTTP/1.1'),
    'a backslash': get('GET /a\\b HTTP/1.1'),
    'an encoded NUL': get('GET /ready%00.html HTTP/1.1'),
    'an encoded line end': get('GET /ready%0d%0aX-Injected:%20true HTTP/1.1'),
  },
  405: {
    'a method in lower case': get('get /ready HTTP/1.1'),
    'an unknown method': get('FOOBAR /ready HTTP/1.1'),
    TRACE: get('TRACE /ready HTTP/1.1', ['Authorization: Bearer echoed-secret']),
    'TRACE with a body': `${get('TRACE /ready HTTP/1.1', ['Content-Length: 14'])}echoed-secret!`,
  },
  415: { 'two media types': post('{}', 'Content-Type: text/html', 'Content-Length: 2') },
};

/** Answered at most once, the connection ends, and nothing after the request is handled. */
export const CLOSED: Cases = {
  'a user in Host': hosted('user@cairn.test'),
  'a path in Host': hosted('cairn.test/path'),
  'two hosts in Host': hosted('cairn.test, other.test'),
  'GET *': get('GET * HTTP/1.1'),
  'a tab in the request line': get('GET\t/ready HTTP/1.1'),
  'two spaces in the request line': get('GET  /ready HTTP/1.1'),
  'no target': get('GET HTTP/1.1'),
  'a space in the target': get('GET /rea dy HTTP/1.1'),
  'HTTP/1': get('GET /ready HTTP/1'),
  'HTTP/01.01': get('GET /ready HTTP/01.01'),
  'HTTP/ 1.1': get('GET /ready HTTP/ 1.1'),
  'HTTP/1.2': get('GET /ready HTTP/1.2'),
  'HTTP/9.9': get('GET /ready HTTP/9.9'),
  'http/1.1': get('GET /ready http/1.1'),
  'a preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a NUL in the target': get('GET /rea\0dy HTTP/1.1'),
  'a line of white space': '   \r\n\r\n',
  'binary garbage': '\u0080\u0081\u00ff\0\u0001\r\n\r\n',
  'a target of 100,000 characters': get(`GET /${'a'.repeat(100_000)} HTTP/1.1`),
  'a name of 100,000 characters': ready(`${'X'.repeat(100_000)}: a`),
  'a method of 100,000 characters': get(`${'A'.repeat(100_000)} /ready HTTP/1.1`),
  'a thousand fields': ready(...Array.from({ length: 1000 }, (_, at) => `X-${at}: a`)),
  'Content-Length: abc': post('{}', 'Content-Length: abc'),
  'Content-Length: 0o2': post('{}', 'Content-Length: 0o2'),
  'Content-Length: 1_0': post('{}', 'Content-Length: 1_0'),
  'Content-Length: -0': post('', 'Content-Length: -0'),
  'Content-Length: 2, 2, 2': post('{}', 'Content-Length: 2, 2, 2'),
  'a Content-Length of twenty digits': post('', 'Content-Length: 99999999999999999999'),
  'a POST without a length': post(''),
  'an upgrade of a POST': get('POST /ready HTTP/1.1', [...WEBSOCKET, 'Sec-WebSocket-Version: 13']),
  'a chunk size with an underscore': chunked('1_0\r\nsixteen bytes...\r\n0\r\n\r\n'),
  'a chunk size with a plus': chunked('+2\r\n{}\r\n0\r\n\r\n'),
  'a chunk size of +0': chunked('+0\r\n\r\n'),
  'a chunk size beyond 64 bits': chunked('FFFFFFFFFFFFFFFF0\r\n{}\r\n0\r\n\r\n'),
  'a chunk extension of 64 KiB': chunked(`2;${'a'.repeat(65_536)}\r\n{}\r\n0\r\n\r\n`),
  'a trailer with a length': chunked('2\r\n{}\r\n0\r\nContent-Length: 50\r\n\r\n'),
};

/** Refused by the newer build of the library; the older never answers, and closes in its own time. */
export const SILENT: Cases = {
  'HTTP/0.9': 'GET /ready\r\n',
  'lines before the request': `\r\n\r\n${ready()}`,
  'a bracket in a name': ready('Bad[Name: value'),
  'a field without a colon': ready('NoColonHere'),
  'a line of white space before the fields': 'GET /ready HTTP/1.1\r\n \r\nHost: cairn.test\r\n\r\n',
  'control characters in a value': ready('X-First: a\u0007\u0008\u000bb'),
  'a name that is not ASCII': ready('X-T\u00e9: a'),
  'a tab in a name': post('{}', 'Content-Length: 2', 'Content\tLength: 99'),
  'a NUL after chunked': post('{}', 'Content-Length: 2', 'Transfer-Encoding: chunked\0'),
  'a form feed before chunked': post('{}', 'Content-Length: 2', 'Transfer-Encoding: \fchunked'),
};
