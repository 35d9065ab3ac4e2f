/** The answers of a download: whole, in part, unchanged, refused. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { type Credential, download, get, mirrorAccount, randomCommit, sha256, upload } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const MIB = 1024 * 1024;
const bytes = randomBytes(2 * MIB + 100);
const total = bytes.length;
const commit = randomCommit();
const etag = `"${sha256(bytes)}"`;

const hub = useHub();
let who: Credential;
beforeAll(async () => {
  who = await mirrorAccount(hub);
  if ((await upload(hub, who, commit, bytes)).status !== 200) throw new Error('the blob was not stored');
});

function head(headers: Record<string, string> = {}) {
  return call(hub, `/api/cert_mirror/${commit}/download`, {
    method: 'HEAD',
    headers: { Authorization: `McpKey ${who.token}`, ...headers },
  });
}

test('[MIR-13, MIR-15] a download carries the exact bytes, their length, type, digest and ETag', async () => {
  const answer = await download(hub, who, commit);
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': String(total),
    'x-tarball-sha256': sha256(bytes),
    'accept-ranges': 'bytes',
    etag,
  });
  expect(answer.bytes.equals(bytes)).toBe(true);
});

test.each([
  ['unknown', 'f'.repeat(40)],
  ['39 characters', commit.slice(1)],
  ['41 characters', `${commit}0`],
  ['upper case', commit.toUpperCase().replace(/^./, 'A')],
  ['no hex', 'main'],
  ['a path of its own', '..%2f..%2fetc%2fpasswd'],
  ['a NUL', 'a%00b'],
  ['letters above ASCII', '%c3%a9'],
])('[MIR-13] a commit sha that is %s is 404 with the exact body', async (_what, sha) => {
  const answer = await get(hub, who, `/${sha}/download`);
  expect({ status: answer.status, body: answer.json() }).toEqual({ status: 404, body: { error: 'blob not found' } });
});

test.each(['', 'short', '0'.repeat(64), `${sha256(bytes)}0`])(
  '[MIR-13] sha256=%j, which no blob of the commit has, is 404',
  async (wanted) => {
    const answer = await get(hub, who, `/${commit}/download?sha256=${wanted}`);
    expect({ status: answer.status, body: answer.json() }).toEqual({ status: 404, body: { error: 'blob not found' } });
  },
);

test.each([
  ['the same tag', etag],
  ['the same tag, weak', `W/${etag}`],
  ['a list with it', `"other", W/"third", ${etag}`],
  ['anything', '*'],
])('[MIR-15] If-None-Match with %s is 304 without a body', async (_what, tags) => {
  const answer = await download(hub, who, commit, { 'If-None-Match': tags });
  expect({ status: answer.status, length: answer.bytes.length }).toEqual({ status: 304, length: 0 });
  expect(answer.headers['etag']).toBe(etag);
  expect((await head({ 'If-None-Match': tags })).status).toBe(304);
});

test.each([
  ['another tag', '"other"'],
  ['the digest without quotes', sha256(bytes)],
  ['a list without it', `"other", "${'0'.repeat(64)}"`],
])('[MIR-15] If-None-Match with %s is 200 and all of it', async (_what, tags) => {
  const answer = await download(hub, who, commit, { 'If-None-Match': tags });
  expect(answer.status).toBe(200);
  expect(answer.bytes.equals(bytes)).toBe(true);
});

test.each([
  ['the first byte', 'bytes=0-0', 0, 1],
  ['the first ten', 'bytes=0-9', 0, 10],
  ['the last byte', `bytes=${total - 1}-${total - 1}`, total - 1, total],
  ['all of it', `bytes=0-${total - 1}`, 0, total],
  ['one chunk', `bytes=${MIB}-${2 * MIB - 1}`, MIB, 2 * MIB],
  ['a part over a chunk boundary', `bytes=${MIB - 3}-${MIB + 2}`, MIB - 3, MIB + 3],
  ['a part over two chunk boundaries', `bytes=${MIB - 1}-${2 * MIB}`, MIB - 1, 2 * MIB + 1],
  ['an open end', `bytes=${2 * MIB + 5}-`, 2 * MIB + 5, total],
  ['everything with an open end', 'bytes=0-', 0, total],
  ['a suffix', 'bytes=-7', total - 7, total],
  ['a suffix over a chunk boundary', `bytes=-${MIB + 1}`, total - MIB - 1, total],
  ['a suffix longer than the blob', `bytes=-${total * 2}`, 0, total],
  ['an end beyond the blob', `bytes=${total - 4}-${total + 1000}`, total - 4, total],
  ['an end far beyond it', 'bytes=5-99999999999999', 5, total],
  ['a unit in upper case', 'Bytes=3-4', 3, 5],
])('[MIR-15] a Range of %s is 206 with just that', async (_what, range, start, end) => {
  const answer = await download(hub, who, commit, { Range: range });
  expect(answer.status).toBe(206);
  expect(answer.headers).toMatchObject({
    'content-range': `bytes ${start}-${end - 1}/${total}`,
    'content-length': String(end - start),
    'content-type': 'application/octet-stream',
    etag,
  });
  expect(answer.bytes.equals(bytes.subarray(start, end))).toBe(true);
});

test.each([`bytes=${total}-`, `bytes=${total}-${total}`, `bytes=${total + 5}-${total + 9}`, 'bytes=-0'])(
  '[MIR-15] the Range %s lies outside and is 416 with the length',
  async (range) => {
    const answer = await download(hub, who, commit, { Range: range });
    expect(answer.status).toBe(416);
    expect(answer.headers['content-range']).toBe(`bytes */${total}`);
    expect(answer.json()).toEqual({ error: expect.stringContaining(String(total)) });
  },
);

test.each([
  'bytes=0-1,5-6',
  'bytes=0-0, -1',
  'bytes=5-2',
  'bytes=',
  'bytes=-',
  'bytes=a-b',
  'bytes=1',
  'bytes=--5',
  'bytes=1-2-3',
  'lines=0-5',
  '0-5',
  'nonsense',
  'bytes 0-5',
])('[MIR-15] the Range %j is answered whole', async (range) => {
  const answer = await download(hub, who, commit, { Range: range });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-range']).toBeUndefined();
  expect(answer.bytes.equals(bytes)).toBe(true);
});

test.each([
  ['the same tag', etag, 206],
  ['another tag', '"other"', 200],
  ['the same tag, weak', `W/${etag}`, 200],
  ['a date', 'Wed, 21 Oct 2015 07:28:00 GMT', 200],
])('[MIR-15] If-Range with %s decides over the range', async (_what, validator, status) => {
  const answer = await download(hub, who, commit, { Range: 'bytes=1-3', 'If-Range': validator });
  expect(answer.status).toBe(status);
  expect(answer.bytes.equals(status === 206 ? bytes.subarray(1, 4) : bytes)).toBe(true);
});

test('[MIR-15] If-Range with another tag makes a range that lies outside harmless', async () => {
  const answer = await download(hub, who, commit, { Range: `bytes=${total}-`, 'If-Range': '"other"' });
  expect(answer.status).toBe(200);
  expect(answer.bytes).toHaveLength(total);
});

test('[MIR-15] If-Range without Range changes nothing', async () => {
  expect((await download(hub, who, commit, { 'If-Range': etag })).bytes).toHaveLength(total);
});

test('[MIR-15] If-None-Match stands above Range', async () => {
  expect((await download(hub, who, commit, { Range: 'bytes=0-1', 'If-None-Match': etag })).status).toBe(304);
  expect((await download(hub, who, commit, { Range: 'bytes=0-1', 'If-None-Match': '"other"' })).status).toBe(206);
});

test('[MIR-15] Range reads of one byte work on a blob of one byte', async () => {
  const one = randomCommit();
  await upload(hub, who, one, Buffer.from('x'));
  expect((await download(hub, who, one, { Range: 'bytes=-1' })).text).toBe('x');
  expect((await download(hub, who, one, { Range: 'bytes=0-' })).headers['content-range']).toBe('bytes 0-0/1');
  expect((await download(hub, who, one, { Range: 'bytes=1-' })).status).toBe(416);
});

test('[NET-9, MIR-13] HEAD of a download has the headers of GET and no body', async () => {
  const answer = await head();
  expect({ status: answer.status, length: answer.bytes.length }).toEqual({ status: 200, length: 0 });
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': String(total),
    'x-tarball-sha256': sha256(bytes),
    etag,
  });
});

test('[NET-9, MIR-15] HEAD has no ranges: only GET defines them (RFC 9110, 14.2)', async () => {
  const answer = await head({ Range: 'bytes=0-9' });
  expect({ status: answer.status, length: answer.headers['content-length'] }).toEqual({
    status: 200,
    length: String(total),
  });
  expect((await head({ Range: `bytes=${total}-` })).status).toBe(200);
});

test('[MIR-13] HEAD of an unknown blob is 404, and the connection goes on', async () => {
  const answer = await call(hub, `/api/cert_mirror/${'0'.repeat(40)}/download`, {
    method: 'HEAD',
    headers: { Authorization: `McpKey ${who.token}` },
  });
  expect({ status: answer.status, length: answer.bytes.length }).toEqual({ status: 404, length: 0 });
});
