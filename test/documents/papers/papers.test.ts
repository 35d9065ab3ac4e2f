/** Proves the rules of papers over REST. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { accessToken } from '../../support/gateway.ts';
import { type Answer, call } from '../../support/http.ts';
import { type Account, account } from '../../support/mirror.ts';
import { useHub } from '../../support/use-hub.ts';

interface Paper {
  readonly id: number;
  readonly title: string;
  readonly content?: string;
  readonly category_id: number | null;
  readonly published: boolean;
  readonly published_at: string | null;
  readonly version: number;
  readonly size_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

interface Page {
  readonly data: readonly Paper[];
  readonly meta: { readonly limit: number; readonly has_more: boolean; readonly cursor: string | null };
}

const MIB = 1024 * 1024;
const ADDRESS = '/api/papers';
const hub = useHub({ loudest: 40, verified: true });
let owner: Account;
let token: string;
let foreign: string;

beforeAll(async () => {
  foreign = await accessToken(hub, (await account(hub)).email);
});

beforeEach(async () => {
  owner = await account(hub);
  token = await accessToken(hub, owner.email);
});

function send(method: string, path = '', body?: unknown, bearer = token): Promise<Answer> {
  return call(hub, path.startsWith('/api') ? path : `${ADDRESS}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

/** The paper that an answer holds; throws when it was refused. */
async function paper(status: number, method: string, path: string, body?: unknown): Promise<Paper> {
  const answer = await send(method, path, body);
  if (answer.status !== status)
    throw new Error(`${method} ${path} answered ${answer.status} ${answer.text.slice(0, 300)}`);
  return answer.json() as unknown as Paper;
}

const create = (body: object) => paper(201, 'POST', '', body);
const get = (id: number) => paper(200, 'GET', `/${id}`);
const patch = (id: number, body: object) => paper(200, 'PATCH', `/${id}`, body);
const list = async (query = '') => (await send('GET', query)).json() as unknown as Page;

test('[PAPER-1] a paper is made as a draft, read as it was written, and changed in part', async () => {
  const answer = await send('POST', '', { title: '  On cairns ', content: '# Grüße\r\n\u0000 😀' });
  expect([answer.status, answer.headers['location']]).toEqual([201, '/api/papers/1']);
  const made = answer.json() as unknown as Paper;
  expect(made).toEqual({
    id: 1,
    title: 'On cairns',
    content: '# Grüße\r\n\u0000 😀',
    category_id: null,
    published: false,
    published_at: null,
    version: 1,
    size_bytes: 17,
    created_at: expect.any(String),
    updated_at: made.created_at,
    changed_by: 'access token',
  });
  expect(await get(1)).toEqual(made);
  const titled = await patch(1, { title: 'Cairns' });
  expect(titled).toMatchObject({ title: 'Cairns', content: made.content, version: 1 });
  const written = await patch(1, { content: 'x', expected_version: 1 });
  expect(written).toMatchObject({ title: 'Cairns', content: 'x', version: 2, size_bytes: 1 });
  for (const same of [{}, { content: 'x' }, { title: 'Cairns', category_id: null, published: false }]) {
    expect(await patch(1, same)).toEqual(written);
  }
  expect(await create({ title: 'empty' })).toMatchObject({ id: 2, content: '', size_bytes: 0 });
});

test('[PAPER-1] publishing sets a time, again keeps it, and making it a draft clears it', async () => {
  await create({ title: 'a' });
  const first = await paper(200, 'PATCH', '/1/publish', { published: true });
  expect(first).toMatchObject({ published: true, published_at: first.updated_at });
  expect(await paper(200, 'PATCH', '/1/publish', { published: true })).toEqual(first);
  expect(await paper(200, 'PATCH', '/1/publish', { published: false })).toMatchObject({ published_at: null });
  expect(await create({ title: 'b', published: true })).toMatchObject({ published: true, version: 1 });
  expect((await patch(2, { published: false })).published_at).toBe(null);
});

test('[PAPER-1] a list is newest first, filtered, paged by a cursor, and without contents unless they are asked for', async () => {
  const category = (await send('POST', '/api/categories', { name: 'Essays' })).json()['id'];
  for (let n = 1; n <= 7; n += 1) {
    await create({ title: `${n}`, content: `text ${n}`, published: n % 2 === 0, category_id: n < 4 ? category : null });
  }
  const ids = async (query: string) => (await list(query)).data.map(({ id }) => id);
  expect(await ids('')).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect(await ids('?published=true')).toEqual([6, 4, 2]);
  expect(await ids('?published=false')).toEqual([7, 5, 3, 1]);
  expect(await ids(`?category_id=${String(category)}`)).toEqual([3, 2, 1]);
  expect(await ids(`?category_id=${String(category)}&published=true`)).toEqual([2]);
  expect(await ids('?category_id=4711')).toEqual([]);
  const first = await list('?limit=3');
  expect(first.meta).toEqual({ limit: 3, has_more: true, cursor: '5' });
  expect(await ids('?limit=3&cursor=5')).toEqual([4, 3, 2]);
  const last = await list('?limit=3&cursor=2');
  expect([last.data.map(({ id }) => id), last.meta.has_more, last.meta.cursor]).toEqual([[1], false, null]);
  for (const one of first.data) expect(one).not.toHaveProperty('content');
  const whole = await list('?include_content=true&limit=100');
  expect(whole.data.map(({ content }) => content)).toEqual([7, 6, 5, 4, 3, 2, 1].map((n) => `text ${n}`));
  await paper(200, 'PATCH', '/6/publish', { published: false });
  await patch(3, { category_id: null, published: true });
  expect([await ids('?published=true'), await ids(`?category_id=${String(category)}`)]).toEqual([
    [4, 3, 2],
    [2, 1],
  ]);
});

test('[PAPER-1] a category that is deleted reads as none', async () => {
  const { id: category } = (await send('POST', '/api/categories', { name: 'Essays' })).json();
  const { id } = await create({ title: 'a', category_id: category });
  expect((await send('DELETE', `/api/categories/${String(category)}`)).status).toBe(204);
  expect((await get(id)).category_id).toBe(null);
  expect((await list()).data).toMatchObject([{ id, category_id: null }]);
  expect((await list(`?category_id=${String(category)}`)).data).toEqual([]);
  expect(await patch(id, { title: 'b' })).toMatchObject({ title: 'b', category_id: null });
});

/** The status of a body with so many bytes; one that is refused for its size need not be sent. */
async function statusOfBody(bytes: number): Promise<number> {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': String(bytes),
  };
  const start = '{"title":"';
  const body = bytes > 7 * MIB ? start : `${start}${'x'.repeat(bytes - start.length - 2)}"}`;
  return (await call(hub, ADDRESS, { method: 'POST', headers, body })).status;
}

test('[PAPER-1, LIM-2] a content has up to a mebibyte, however it is written in JSON, and a page of them ends early', async () => {
  const large = '\u0001'.repeat(MIB);
  const made = await create({ title: 'escaped', content: large });
  expect([made.size_bytes, made.content === large]).toEqual([MIB, true]);
  expect((await create({ title: 'two bytes each', content: 'é'.repeat(MIB / 2) })).size_bytes).toBe(MIB);
  for (const content of [`${large}x`, 'é'.repeat(MIB / 2 + 1)]) {
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', '/1'],
    ] as const) {
      const answer = await send(method, path, { title: 'x', content });
      expect([answer.status, Object.keys(answer.json()['errors'] ?? {})]).toEqual([422, ['content']]);
    }
  }
  for (const [bytes, status] of [
    [7 * MIB, 422],
    [7 * MIB + 1, 413],
  ] as const) {
    expect(await statusOfBody(bytes)).toBe(status);
  }
  for (let n = 0; n < 6; n += 1) await create({ title: `${n}`, content: 'x'.repeat(MIB) });
  const page = await list('?include_content=true');
  expect([page.data.length, page.meta.has_more]).toEqual([4, true]);
  const rest = await list(`?include_content=true&cursor=${page.meta.cursor ?? ''}`);
  expect(rest.data.length).toBeGreaterThan(0);
  expect((await list()).data).toHaveLength(8);
});

test('[PAPER-1] a stale expected_version is 409 with the version that stands, and of several at once one writes', async () => {
  await create({ title: 'a', content: '0' });
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => send('PATCH', '/1', { content: `${n + 1}`, expected_version: 1 })),
  );
  const refused = answers.filter(({ status }) => status === 409);
  expect([refused.length, answers.filter(({ status }) => status === 200).length]).toEqual([5, 1]);
  for (const answer of refused) {
    expect(answer.json()).toEqual({ error: expect.stringMatching(/at version 2, not 1/) });
  }
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => send('PATCH', '/1', { content: `text ${n}` })));
  expect(all.map((answer) => [answer.status, answer.json()['content']])).toEqual(
    Array.from({ length: 20 }, (_, n) => [200, `text ${n}`]),
  );
  expect((await get(1)).version).toBe(22);
});

test('[PAPER-1] a deleted paper is gone from every list, and comes back whole with restore', async () => {
  const made = await create({ title: 'a', content: 'kept', published: true });
  expect([(await send('DELETE', '/1')).status, (await send('DELETE', '/1')).status]).toEqual([204, 404]);
  expect((await list('?published=true')).data).toEqual([]);
  for (const [method, path, body] of [
    ['GET', '/1', undefined],
    ['PATCH', '/1', { title: 'b' }],
    ['PATCH', '/1/publish', { published: false }],
  ] as const) {
    expect((await send(method, path, body)).status).toBe(404);
  }
  expect(await patch(1, { restore: true })).toMatchObject({ ...made, updated_at: expect.any(String) });
  expect((await list('?published=true')).data).toHaveLength(1);
  expect(await patch(1, { restore: true, content: 'more' })).toMatchObject({ version: 2 });
});

test.each([
  ['POST', '', {}, ['title']],
  ['POST', '', { title: ' ' }, ['title']],
  [
    'POST',
    '',
    { title: 't'.repeat(201), content: 1, published: 'yes', category_id: 'x' },
    ['category_id', 'content', 'published', 'title'],
  ],
  ['POST', '', { title: 'x', category_id: 4711 }, ['category_id']],
  ['POST', '', { title: 'x', content: '\ud800' }, ['content']],
  ['POST', '', { title: 'x', contents: 'y' }, ['contents']],
  ['POST', '', [], ['body']],
  ['PATCH', '/1', { title: 7, published: null }, ['published', 'title']],
  ['PATCH', '/1', { expected_version: 0, restore: 1 }, ['expected_version', 'restore']],
  ['PATCH', '/1', { category_id: 4711, id: 2 }, ['category_id', 'id']],
  ['PATCH', '/1/publish', {}, ['published']],
  ['PATCH', '/1/publish', { published: 'true', title: 'x' }, ['published', 'title']],
  [
    'GET',
    '?limit=0&cursor=x&published=1&include_content=yes&category_id=0',
    undefined,
    ['category_id', 'cursor', 'include_content', 'limit', 'published'],
  ],
  ['GET', '?limit=101', undefined, ['limit']],
])('[PAPER-1, NET-5] %s %s %j is 422 by field, and nothing changed', async (method, path, body, fields) => {
  const made = await create({ title: 'a', content: 'kept' });
  const answer = await send(method, path, body);
  expect([answer.status, Object.keys(answer.json()['errors'] ?? {}).sort()]).toEqual([422, fields]);
  expect(await list('?include_content=true')).toMatchObject({ data: [made] });
});

test('[PAPER-1, KEY-8] unknown papers and those of another account are 404, and change nothing', async () => {
  const made = await create({ title: 'mine', content: 'secret' });
  for (const bearer of [token, foreign]) {
    for (const path of bearer === token ? ['/4711', '/0', '/x', '/1.0'] : ['/1', '/4711']) {
      for (const [method, below, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { restore: true, title: 'x' }],
        ['PATCH', '/publish', { published: true }],
        ['DELETE', '', undefined],
      ] as const) {
        const answer = await send(method, `${path}${below}`, body, bearer);
        expect([path, answer.status, answer.json()]).toEqual([path, 404, { error: 'paper not found' }]);
      }
    }
  }
  expect((await send('GET', '', undefined, foreign)).json()).toMatchObject({ data: [] });
  expect(await get(1)).toEqual(made);
});

test('[KEY-3, PAPER-1] papers take an access token and nothing else', async () => {
  for (const authorization of [`McpKey ${owner.mcp_key}`, `McpKey ${token}`, `Bearer ${owner.mcp_key}`, undefined]) {
    const answer = await call(hub, ADDRESS, { headers: { Authorization: authorization } });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="cairn"']);
  }
});
