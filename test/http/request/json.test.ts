/** JSON bodies and the shape of refusals, over the one JSON surface of the mirror. */
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { type Answer, call } from '../../support/http.ts';
import { type Account, type Credential, mirrorAccount, upload } from '../../support/mirror.ts';
import { head, rawClient } from '../../support/raw.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
let owner: Account & Credential;

beforeAll(async () => {
  owner = await mirrorAccount(hub);
});

const PATH = '/api/cert_mirror/credentials';

function post(body: string | Uint8Array | undefined, headers: Record<string, string | undefined> = {}) {
  return call(hub, PATH, {
    method: 'POST',
    headers: { Authorization: `McpKey ${owner.mcp_key}`, 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));

test.each([
  ['an open brace', '{'],
  ['a trailing comma', '{"rotate":false,}'],
  ['single quotes', "{'rotate':false}"],
  ['a bare name', '{rotate:false}'],
  ['two documents', '{} {}'],
  ['a cut literal', '{"rotate":fals'],
  ['NaN', '{"x":NaN}'],
  ['a leading zero', '{"x":01}'],
  ['a comment', '{} // why not'],
  ['white space only', '   '],
  ['a raw control character in a string', '{"x":"a\u0001b"}'],
  ['a form', 'rotate=true'],
  ['a byte that begins no character', bytes('{"x":"', 0xff, '"}')],
  ['a cut character', bytes('{"x":"', 0xc3, '"}')],
  ['an overlong character', bytes('{"x":"', 0xc0, 0xaf, '"}')],
  ['half of a surrogate pair as UTF-8', bytes('{"x":"', 0xed, 0xa0, 0x80, '"}')],
  ['UTF-16', Buffer.from('{"rotate":false}', 'utf16le')],
])('[NET-4] a body that is not JSON is 400: %s', async (_name, body) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect(answer.json()).toEqual({ error: 'body is not valid JSON' });
});

test('[NET-4] the last of duplicate keys counts', async () => {
  expect((await post('{"rotate":"no boolean","rotate":false}')).json()).toMatchObject({ status: 'existing' });
  expect((await post('{"rotate":true,"rotate":false}')).json()).toMatchObject({ status: 'existing' });
  expect((await post('{"rotate":false,"rotate":"no boolean"}')).status).toBe(422);
  expect((await post('{"rotate":false,"\\u0072otate":true}')).json()).toMatchObject({ status: 'created' });
});

/** A JSON object whose brackets are `levels` deep. */
const nested = (levels: number, [open, close]: readonly [string, string] = ['[', ']']) =>
  `{"deep":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;

test('[NET-4] nesting as deep as the limit is accepted and one level more is refused', async () => {
  expect(limits.jsonDepthMax).toBe(64);
  expect((await post(nested(64))).status).toBe(200);
  expect((await post(nested(64, ['{"a":', '}']))).status).toBe(200);
  for (const body of [nested(65), nested(65, ['{"a":', '}']), '['.repeat(65), '['.repeat(limits.jsonBodyBytesMax)]) {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({ error: expect.stringContaining('64') });
  }
});

test('[NET-4] brackets inside strings and after one another do not nest', async () => {
  expect((await post(`{"a":"${'['.repeat(500)}"}`)).status).toBe(200);
  expect((await post(`{"a":"\\"${'{'.repeat(500)}\\\\"}`)).status).toBe(200);
  expect((await post(`{"a":[${'[],'.repeat(500)}{}]}`)).status).toBe(200);
});

test.each([
  undefined,
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json-patch+json',
  'application',
])('[NET-4] a JSON body sent as Content-Type %s is 415', async (type) => {
  const answer = await post('{}', { 'Content-Type': type });
  expect(answer.status).toBe(415);
  expect(answer.json()['error']).toContain('application/json');
});

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
])('[NET-4] a JSON body sent as Content-Type %s is accepted', async (type) => {
  expect((await post('{}', { 'Content-Type': type })).status).toBe(200);
});

test('[NET-4] a member that names the prototype changes nothing', async () => {
  const before = (await post('{}')).json()['token'];
  const answer = await post('{"__proto__":{"rotate":true},"constructor":{"prototype":{"rotate":true}}}');
  expect(answer.json()).toMatchObject({ status: 'existing', token: before });
  expect((await post('{}')).json()).toMatchObject({ status: 'existing', token: before });
});

test('[LIM-2] a JSON body of exactly the limit is read and one byte more is 413', async () => {
  const padded = (size: number) => `{${' '.repeat(size - 2)}}`;
  expect((await post(padded(limits.jsonBodyBytesMax))).status).toBe(200);
  const answer = await post(padded(limits.jsonBodyBytesMax + 1));
  expect(answer.status).toBe(413);
  expect(answer.json()['error']).toContain(String(limits.jsonBodyBytesMax));
});

test('[LIM-2] a chunked JSON body is cut off at the limit', async () => {
  const client = await rawClient(hub.port);
  client.send(
    head(`POST ${PATH} HTTP/1.1`, [
      `Authorization: McpKey ${owner.mcp_key}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]),
  );
  const chunk = `${(limits.jsonBodyBytesMax / 2 + 1).toString(16)}\r\n${' '.repeat(limits.jsonBodyBytesMax / 2 + 1)}\r\n`;
  client.send(chunk + chunk);
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(413);
  client.vanish();
});

/** One refusal of every kind that a client can provoke. */
const refusals: readonly (readonly [status: number, what: string, ask: () => Promise<Answer>])[] = [
  [400, 'bad JSON', () => post('{"a":')],
  [401, 'no credential', () => post('{}', { Authorization: undefined })],
  [401, 'an unknown mirror token', () => call(hub, '/api/cert_mirror', { headers: { Authorization: 'McpKey x' } })],
  [403, 'a blocked agent', () => post('{}', { 'User-Agent': 'curl/8' })],
  [404, 'an unknown path', () => call(hub, '/api/nowhere/%00/..%2f..%2fetc%2fpasswd')],
  [404, 'a path that is not UTF-8', () => call(hub, '/api/cert_mirror/%ff%fe/download')],
  [404, 'an unknown blob', () => mirror(`/${'a'.repeat(40)}/download`)],
  [404, 'no blob yet', () => mirror('/latest')],
  [405, 'a wrong method', () => call(hub, PATH, { method: 'PATCH' })],
  [411, 'no length', () => upload(hub, owner, 'b'.repeat(40), Buffer.from('x'), { 'Transfer-Encoding': 'chunked' })],
  [413, 'a long body', () => post('{}', { 'Content-Length': String(limits.jsonBodyBytesMax + 2) })],
  [415, 'a wrong type', () => post('{}', { 'Content-Type': 'text/html' })],
  [422, 'a wrong type of a field', () => post('{"rotate":"yes"}')],
  [422, 'no object', () => post('[]')],
  [422, 'null', () => post('null')],
  [422, 'wrong headers', () => upload(hub, owner, 'not-a-commit', Buffer.from('x'))],
  [422, 'a wrong signature', () => upload(hub, { ...owner, hmac_secret: '0' }, 'b'.repeat(40), Buffer.from('x'))],
  [422, 'a wrong query', () => mirror('?limit=-1')],
];

async function mirror(path: string): Promise<Answer> {
  const { token } = (await post('{}')).json() as { token: string };
  return call(hub, `/api/cert_mirror${path}`, { headers: { Authorization: `McpKey ${token}` } });
}

/** What would tell of the inside: stacks, file paths, names of packages, classes and tables, printed emptiness. */
const INSIDE =
  /\n|\bat \S+ \(|node_modules|\.[jt]s\b|\/(?:src|dist|tmp|home|root|work|proc|usr)\/|lmdb|uWebSockets|piscina|\bzod\b|msgpack|Refusal|TypeError|SyntaxError|JSON\.parse|undefined|\[object|\bNaN\b|mirror_[a-z]+\b(?<!cert_mirror)/;

test.each(refusals)('[NET-5] %i for %s is one sentence and tells nothing of the inside', async (status, _what, ask) => {
  const owned = (await post('{"rotate":true}')).json() as unknown as Credential;
  owner = { ...owner, ...owned };
  const answer = await ask();
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  const body = answer.json();
  expect(Object.keys(body)).toEqual(status === 422 ? ['error', 'errors'] : ['error']);
  expect(body['error']).toMatch(/^\S.{5,}\S$/);
  expect(answer.text).not.toMatch(INSIDE);
  expect(JSON.stringify(answer.headers)).not.toContain(hub.dataFolder);
});

test('[NET-5] a 422 names each wrong field with its sentences', async () => {
  const answer = await upload(hub, owner, 'nope', Buffer.from('x'), {
    'X-Tarball-Sha256': 'short',
    'X-Mirror-Signature': undefined,
  });
  expect(answer.status).toBe(422);
  const { error, errors } = answer.json() as { error: string; errors: Record<string, string[]> };
  expect(Object.keys(errors).sort()).toEqual(['X-Commit-Sha', 'X-Mirror-Signature', 'X-Tarball-Sha256']);
  for (const sentences of Object.values(errors)) {
    expect(sentences.length).toBeGreaterThan(0);
    for (const sentence of sentences) expect(error).toContain(sentence);
  }
  expect((await post('{"rotate":1}')).json()).toEqual({
    error: expect.any(String),
    errors: { rotate: [expect.any(String)] },
  });
});
