/** The answers of an upload: its success, every refusal, and the fields that it reads. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rawExchange, statusesOf } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import {
  type Account,
  account,
  type Credential,
  credential,
  download,
  mirrorAccount,
  randomCommit,
  sha256,
  upload,
  uploadHeaders,
} from '../support/mirror.ts';
import { latestOf, listAll, UNGROUPED, untilNothingStaged } from '../support/mirror-state.ts';
import { answerToHead, RawClient, uploadHead } from '../support/raw-client.ts';

const BYTES_MAX = 52_428_800;
const small = Buffer.from('a tarball, as far as the hub can tell');

let hub: Hub;
let who: Account & Credential;
beforeAll(async () => {
  hub = await startHub();
  who = await mirrorAccount(hub);
});
afterAll(() => hub.stop());

/** Uploads with some headers changed and gives status and body; whatever is refused must leave the list as it was. */
async function refused(headers: Record<string, string | undefined>, bytes: Uint8Array = small) {
  const before = await listAll(hub, who);
  const answer = await upload(hub, who, randomCommit(), bytes, headers);
  expect(await listAll(hub, who)).toEqual(before);
  return { status: answer.status, headers: answer.headers, body: answer.json() };
}

/** The answer behind interim ones: the HTTP library says 100 before it asks anybody. */
async function finalAnswer(client: RawClient) {
  let answer = await client.answer();
  while (answer !== undefined && answer.status < 200) answer = await client.answer();
  return answer;
}

test('[MIR-7] an upload answers its four fields, the time in ISO 8601 UTC with milliseconds', async () => {
  const commit = randomCommit();
  const before = Date.now();
  const answer = await upload(hub, who, commit, small);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  const { uploaded_at, ...rest } = answer.json();
  expect(rest).toEqual({ commit_sha: commit, sha256: sha256(small), byte_size: small.length });
  expect(uploaded_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const at = Date.parse(String(uploaded_at));
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
});

test.each([37, 70_000])('[MIR-7, OPS-2] an upload of %i bytes that was answered outlives kill -9', async (size) => {
  const own = await startHub();
  const owner = await mirrorAccount(own);
  const commit = randomCommit();
  const bytes = randomBytes(size);
  const answer = await upload(own, owner, commit, bytes);
  await own.kill();
  const again = await startHub({ dataFolder: own.dataFolder });
  try {
    expect(answer.status).toBe(200);
    expect((await download(again, owner, commit)).bytes.equals(bytes)).toBe(true);
    expect(await listAll(again, owner)).toEqual([{ ...answer.json(), uploaded_by: null, ...UNGROUPED }]);
  } finally {
    await again.stop();
  }
});

test.each([
  ['no header', undefined],
  ['an unknown token', `McpKey ${'0'.repeat(64)}`],
  ['a token that is too short', `McpKey ${'a'.repeat(63)}`],
  ['an empty token', 'McpKey '],
  ['no scheme', 'a'.repeat(64)],
])('[MIR-8] %s is 401', async (_what, authorization) => {
  const { status, headers, body } = await refused({ Authorization: authorization });
  expect({ status, body }).toEqual({ status: 401, body: { error: expect.stringMatching(/\w+ \w+/) } });
  expect(headers['www-authenticate']).toMatch(/^McpKey/);
});

test('[MIR-8] the right token in another scheme, or an account key, is 401', async () => {
  for (const authorization of [`Bearer ${who.token}`, `McpKey ${who.mcp_key}`, `McpKey ${who.account_key}`]) {
    expect((await refused({ Authorization: authorization })).status).toBe(401);
  }
});

test('[MIR-8] a default User-Agent of a command-line tool is 403 with the exact body', async () => {
  const { status, body } = await refused({ 'User-Agent': 'curl/8.5.0' });
  expect({ status, body }).toEqual({ status: 403, body: { error: 'Forbidden. Your request has been blocked.' } });
});

test('[MIR-8] no Content-Length is 411', async () => {
  const answer = await answerToHead(hub, uploadHead(who, randomCommit(), small, { 'Content-Length': undefined }));
  expect(answer?.status).toBe(411);
  expect(answer?.json()).toEqual({ error: expect.stringContaining('Content-Length') });
});

test('[MIR-8] a chunked body is 411 and stores nothing', async () => {
  const before = await listAll(hub, who);
  const head = uploadHead(who, randomCommit(), small, {
    'Content-Length': undefined,
    'Transfer-Encoding': 'chunked',
  });
  const { text } = await rawExchange(hub.port, [head, `${small.length.toString(16)}\r\n`, small, '\r\n0\r\n\r\n']);
  expect(statusesOf(text)[0]).toBe(411);
  expect(await listAll(hub, who)).toEqual(before);
});

test.concurrent.each([
  ['52428801', {}],
  ['999999999999999', {}],
  ['52428801', { Expect: '100-continue' }],
])('[MIR-8] a declared length of %s with %j is 413 before any byte of the body', async (length, headers) => {
  const head = uploadHead(who, randomCommit(), small, { 'Content-Length': length, ...headers });
  const client = await RawClient.open(hub);
  await client.send(head);
  const answer = await finalAnswer(client);
  expect(answer?.status).toBe(413);
  expect(answer?.json()).toEqual({ error: expect.stringContaining(String(BYTES_MAX)) });
  await client.closed;
});

test('[MIR-8] with Expect: 100-continue a good upload goes through', async () => {
  const commit = randomCommit();
  const client = await RawClient.open(hub);
  await client.send(uploadHead(who, commit, small, { Expect: '100-continue' }));
  await client.send(small);
  const answer = await finalAnswer(client);
  client.destroy();
  expect(answer?.json()).toMatchObject({ commit_sha: commit, byte_size: small.length });
});

test.each([
  ['multipart/form-data; boundary=x', /multipart/],
  ['multipart/mixed; boundary=x', /multipart/],
  ['application/gzip', /application\/octet-stream/],
  ['application/octet-streams', /application\/octet-stream/],
  ['text/plain', /application\/octet-stream/],
  [undefined, /application\/octet-stream/],
])('[MIR-8] Content-Type %s is 415 with a sentence that helps', async (type, sentence) => {
  const { status, body } = await refused({ 'Content-Type': type });
  expect({ status, body }).toEqual({ status: 415, body: { error: expect.stringMatching(sentence) } });
});

test.each(['Application/Octet-Stream', 'application/octet-stream; charset=binary'])(
  '[MIR-8] Content-Type %s is taken',
  async (type) => {
    const answer = await upload(hub, who, randomCommit(), small, { 'Content-Type': type });
    expect(answer.status).toBe(200);
  },
);

const COMMIT = 'X-Commit-Sha';
const DIGEST = 'X-Tarball-Sha256';
const SIGNATURE = 'X-Mirror-Signature';
const LABEL = 'X-Uploaded-By';

/** Sends an upload whose label has these bytes, which no HTTP client sends as they are. */
async function sendLabelled(label: Buffer): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const [head = '', tail = ''] = uploadHead(who, randomCommit(), small, { [LABEL]: '<label>' }).split('<label>');
  const { text } = await rawExchange(hub.port, [Buffer.concat([Buffer.from(head), label, Buffer.from(tail)]), small]);
  return { status: statusesOf(text)[0], text };
}

async function uploadLabelled(label: Buffer) {
  const { status, text } = await sendLabelled(label);
  expect(status).toBe(200);
  const answer = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
  return { answer, rows: await listAll(hub, who) };
}

test.each([
  [COMMIT, 'missing', undefined],
  [COMMIT, '39 characters', 'a'.repeat(39)],
  [COMMIT, '41 characters', 'a'.repeat(41)],
  [COMMIT, 'upper case', 'A'.repeat(40)],
  [COMMIT, 'no hex', 'g'.repeat(40)],
  [COMMIT, 'empty', ''],
  [COMMIT, 'an inner space', `${'a'.repeat(20)} ${'a'.repeat(19)}`],
  [DIGEST, 'missing', undefined],
  [DIGEST, '63 characters', 'a'.repeat(63)],
  [DIGEST, '65 characters', 'a'.repeat(65)],
  [DIGEST, 'no hex', 'z'.repeat(64)],
  [DIGEST, 'of another body', 'a'.repeat(64)],
  [SIGNATURE, 'missing', undefined],
  [SIGNATURE, 'without its prefix', 'a'.repeat(64)],
  [SIGNATURE, 'another prefix', `sha1=${'a'.repeat(40)}`],
  [SIGNATURE, 'too short', `sha256=${'a'.repeat(62)}`],
  [SIGNATURE, 'too long', `sha256=${'a'.repeat(66)}`],
  [SIGNATURE, 'no hex', `sha256=${'x'.repeat(64)}`],
  [SIGNATURE, 'of nothing', `sha256=${'a'.repeat(64)}`],
])('[MIR-8] %s that is %s is 422 under its name', async (field, _what, value) => {
  const { status, body } = await refused({ [field]: value });
  expect({ status, body }).toEqual({
    status: 422,
    body: { error: expect.stringContaining(field), errors: { [field]: [expect.stringContaining(field)] } },
  });
});

test('[MIR-8] all wrong fields are told in one answer, each under its name', async () => {
  const { status, body } = await refused({
    [COMMIT]: 'main',
    [DIGEST]: 'none',
    [SIGNATURE]: 'unsigned',
    [LABEL]: 'x'.repeat(256),
  });
  expect(status).toBe(422);
  expect(Object.keys(body['errors'] as object).sort()).toEqual([COMMIT, DIGEST, SIGNATURE, LABEL].sort());
  for (const field of [COMMIT, DIGEST, SIGNATURE, LABEL]) expect(body['error']).toContain(field);
});

test.each([small.length, 40_000, 70_000, 2 * 1024 * 1024 + 1])(
  '[MIR-8, MIR-9] %i bytes with a wrong secret, an altered body or another digest are 422 and leave nothing',
  async (size) => {
    const bytes = randomBytes(size);
    const altered = Buffer.from(bytes);
    altered[size - 1] = (altered[size - 1] ?? 0) ^ 1;
    const right = uploadHeaders(who, randomCommit(), bytes);
    const foreign = uploadHeaders({ ...who, hmac_secret: '0'.repeat(64) }, randomCommit(), bytes);
    const binaryKey = uploadHeaders({ ...who, hmac_secret: who.hmac_secret.toUpperCase() }, randomCommit(), bytes);
    const wrong: [string, Promise<Awaited<ReturnType<typeof refused>>>][] = [
      [SIGNATURE, refused({ [SIGNATURE]: foreign[SIGNATURE] }, bytes)],
      [SIGNATURE, refused({ [SIGNATURE]: binaryKey[SIGNATURE] }, bytes)],
      [SIGNATURE, refused({ [SIGNATURE]: right[SIGNATURE] }, altered)],
      [DIGEST, refused({ [DIGEST]: right[DIGEST] }, altered)],
    ];
    for (const [field, one] of wrong) {
      const { status, body } = await one;
      expect({ status, fields: Object.keys(body['errors'] as object) }).toEqual({ status: 422, fields: [field] });
    }
    expect((await untilNothingStaged(hub)).ok).toBe(true);
  },
);

test('[MIR-8] a signature made with the secret of another account is 422', async () => {
  const other = await credential(hub, (await account(hub)).mcp_key);
  const headers = uploadHeaders(other, randomCommit(), small);
  expect((await refused({ [SIGNATURE]: headers[SIGNATURE] })).status).toBe(422);
});

test('[MIR-9] hex is taken in upper case and stored in lower case', async () => {
  const bytes = randomBytes(500);
  const commit = randomCommit();
  const headers = uploadHeaders(who, commit, bytes);
  const answer = await upload(hub, who, commit, bytes, {
    [DIGEST]: String(headers[DIGEST]).toUpperCase(),
    [SIGNATURE]: `sha256=${String(headers[SIGNATURE]).slice('sha256='.length).toUpperCase()}`,
  });
  expect(answer.json()).toMatchObject({ sha256: sha256(bytes) });
  expect(await latestOf(hub, who)).toMatchObject({ commit_sha: commit, sha256: sha256(bytes) });
  expect((await download(hub, who, commit)).headers['x-tarball-sha256']).toBe(sha256(bytes));
});

test.each([
  ['absent', undefined, null],
  ['empty', '', null],
  ['a word', 'ci', 'ci'],
  ['inner spaces and punctuation', 'build host 7 (eu) "~!"', 'build host 7 (eu) "~!"'],
  ['255 characters', 'y'.repeat(255), 'y'.repeat(255)],
])('[MIR-9] X-Uploaded-By that is %s is listed as it is', async (_what, label, listed) => {
  const bytes = randomBytes(64);
  const commit = randomCommit();
  expect((await upload(hub, who, commit, bytes, { [LABEL]: label })).status).toBe(200);
  expect((await listAll(hub, who))[0]).toMatchObject({ commit_sha: commit, uploaded_by: listed });
});

test.each([
  ['UTF-8 between ASCII letters', 'CI of Zürich', 'CI of Zürich'],
  ['an emoji and Hangul in quotes', '"서울 🏔"', '"서울 🏔"'],
  ['in RFC 8187 form', "UTF-8''%EC%84%9C%EC%9A%B8%20%F0%9F%8F%94", '서울 🏔'],
  ['in RFC 8187 form with a language', "utf-8'de'Z%C3%BCrich", 'Zürich'],
  ['in RFC 8187 form, 255 characters of four bytes', `UTF-8''${'%F0%9F%8F%94'.repeat(255)}`, '🏔'.repeat(255)],
  ['nearly in RFC 8187 form', "UTF-8''100%", "UTF-8''100%"],
])('[MIR-9] X-Uploaded-By that is %s is listed in its own letters', async (_what, label, listed) => {
  const { answer, rows } = await uploadLabelled(Buffer.from(label));
  expect(answer['warnings']).toBeUndefined();
  expect(rows[0]).toMatchObject({ commit_sha: answer['commit_sha'], uploaded_by: listed });
});

test.each([
  ['only letters outside ASCII', Buffer.from('서울')],
  ['an ISO 8859-1 letter inside', Buffer.from('Z\u00fcrich', 'latin1')],
])(
  '[MIR-9] X-Uploaded-By of which the library loses bytes, %s, is told, and the upload counts',
  async (_what, label) => {
    const { answer, rows } = await uploadLabelled(label);
    expect(answer['warnings']).toEqual([expect.stringContaining('RFC 8187')]);
    expect(rows[0]).toMatchObject({ commit_sha: answer['commit_sha'], uploaded_by: null });
  },
);

test.each([
  ['256 characters', 'y'.repeat(256)],
  ['256 characters in RFC 8187 form', `UTF-8''${'%C3%BC'.repeat(256)}`],
  ['DEL', 'a\u007fb'],
  ['a tab', 'a\tb'],
  ['an encoded line break', "UTF-8''a%0Ab"],
])('[MIR-9] X-Uploaded-By with %s is 422', async (_what, label) => {
  const before = await listAll(hub, who);
  const { status, text } = await sendLabelled(Buffer.from(label));
  expect({ status, list: await listAll(hub, who) }).toEqual({ status: 422, list: before });
  expect(text).toContain(LABEL);
});

test.each([0x00, 0x01, 0x08, 0x0b, 0x1b])(
  '[MIR-9] the control character %i in X-Uploaded-By never reaches the store',
  async (code) => {
    const before = await listAll(hub, who);
    const head = uploadHead(who, randomCommit(), small, { [LABEL]: `a${String.fromCharCode(code)}b` });
    const { text } = await rawExchange(hub.port, [Buffer.from(head, 'latin1'), small], { silenceMs: 200 });
    // The HTTP library takes no such header: it waits for a better one until the connection is idle for too long.
    expect([undefined, 400, 422]).toContain(statusesOf(text)[0]);
    expect(await listAll(hub, who)).toEqual(before);
  },
);

test('[MIR-8] an empty body is 422 and stores nothing', async () => {
  const { status, body } = await refused({}, Buffer.alloc(0));
  expect({ status, body }).toMatchObject({ status: 422, body: { error: expect.stringContaining('empty') } });
});

test('[NET-2] the checks of an upload run in their order', async () => {
  const commit = randomCommit();
  const steps: [number, Record<string, string | undefined>][] = [
    [403, { 'User-Agent': 'Wget/1.21' }],
    [401, { 'User-Agent': 'cairn-test/1', Authorization: `Bearer ${who.token}` }],
    [411, { Authorization: `McpKey ${who.token}`, 'Content-Length': undefined }],
    [413, { 'Content-Length': String(BYTES_MAX + 1), 'Content-Type': 'multipart/form-data' }],
    [415, { 'Content-Length': String(small.length), [COMMIT]: 'wrong' }],
    [422, { 'Content-Type': 'application/octet-stream' }],
  ];
  let headers: Record<string, string | undefined> = {};
  for (const [status, change] of steps) {
    headers = { ...headers, ...change };
    const answer = await answerToHead(hub, uploadHead(who, commit, small, { ...headers }));
    expect(answer?.status).toBe(status);
  }
  const { [COMMIT]: _wrong, ...right } = headers;
  expect((await upload(hub, who, commit, small, { ...right, 'Content-Length': undefined })).status).toBe(200);
});
