/** Proves the rules of dev docs through both doors of the gateway: made, read, changed, deleted, brought back. */
import { beforeEach, expect, test } from 'vitest';
import { bothDoors, callTool, mirrorTool, structuredOf, textOf, withKey } from '../../support/gateway.ts';
import { useHub } from '../../support/use-hub.ts';
import { type Doc, type DocList, newKey, type ReadDoc } from './support.ts';

const MIB = 1024 * 1024;
const hub = useHub({ loudest: 40, verified: true });
let key: string;

beforeEach(async () => {
  key = await newKey(hub);
});

const run = bothDoors(() => ({ hub, key }));

const create = async (title: string, content = '', more: object = {}) =>
  (await run<{ doc: Doc }>('create_dev_doc', { title, content, ...more })).doc;
const update = async (args: object) => (await run<{ doc: Doc }>('update_dev_doc', args)).doc;
const get = (args: object) => run<ReadDoc>('get_dev_doc', args);
const list = (args: object = {}) => run<DocList>('list_dev_docs', args);

/** The same refusal over both doors; the account is as it was. */
async function refused(name: string, args: object, status: number, error: object) {
  const before = await run<object>('pull_dev_docs', {});
  const told = await callTool(hub, name, args, key);
  expect(told.error).toMatchObject({ message: expect.any(String), ...error });
  const answer = await mirrorTool(hub, name, args, withKey(key));
  expect([answer.status, answer.json()]).toMatchObject([
    status,
    { error: told.error?.message, code: told.error?.code },
  ]);
  expect(await run('pull_dev_docs', {})).toEqual(before);
  return told.error?.message ?? '';
}

test('[DOC-2] an unknown title is refused with the nearest one, which is not in the trash', async () => {
  await create('CLAUDE.md', 'Small commits.', { category: 'claude' });
  await create('Deployment of the hub');
  const gone = await create('CLAUDE.mdx');
  await run('delete_dev_doc', { id: gone.id });
  for (const [title, meant] of [
    ['claud.md', 'did you mean "CLAUDE.md" in claude, id 1?'],
    ['deployment', 'did you mean "Deployment of the hub" in docs, id 2?'],
  ]) {
    for (const [tool, more] of [
      ['get_dev_doc', {}],
      ['update_dev_doc', { content: 'x', mode: 'append' }],
      ['delete_dev_doc', {}],
    ] as const) {
      expect(await refused(tool, { title, ...more }, 404, { code: -32005 })).toContain(meant);
    }
  }
  expect(await refused('get_dev_doc', { title: 'zebra' }, 404, { code: -32005 })).not.toContain('did you mean');
});

test.each([
  ['CLAUDE.md', 'markdown'],
  ['rules.MDC', 'markdown'],
  ['settings.json', 'json'],
  ['compose.yaml', 'yaml'],
  ['ci.yml', 'yaml'],
  ['.cursorrules', 'text'],
  ['notes', 'markdown'],
  ['Rules of release 2.4', 'markdown'],
  ['a.md.txt', 'text'],
])('[DOC-1] %s is %s unless it is said otherwise', async (title, type) => {
  expect(await create(title)).toMatchObject({ id: 1, title, category: 'docs', content_type: type, version: 1 });
  const other = type === 'json' ? 'text' : 'json';
  expect(await create(title, '', { category: 'mcp', content_type: other })).toMatchObject({ content_type: other });
});

test('[DOC-1, DOC-2] a document is given back as it was written, up to a mebibyte, by id and by title', async () => {
  for (const [title, content] of [
    ['empty', ''],
    ['Grün 😀.md', '# Ä\r\n\u0000\u2028 "\\" \ufeff'],
    ['large', 'é'.repeat(MIB / 2)],
  ] as const) {
    const doc = await create(title, content, { category: 'skills' });
    expect(doc.size_bytes).toBe(Buffer.byteLength(content));
    const expected = { doc: { ...doc, content }, current_version: 1 };
    expect(await get({ id: doc.id })).toEqual(expected);
    expect(await get({ title: ` ${title.toUpperCase()} `, category: 'SKILLS' })).toEqual(expected);
    expect(await get({ title })).toEqual(expected);
  }
  const { result } = await callTool(hub, 'get_dev_doc', { title: 'large' }, key);
  const text = textOf({ jsonrpc: '2.0', id: 1, result: result ?? {} });
  expect(text).toContain('é'.repeat(32 * 1024));
  expect(text.length).toBeLessThan(33 * 1024);
  expect(text).toMatch(/more bytes; read with id cairn:\/\/docs\/skills\/large to continue$/);
});

test('[DOC-1] a title is unique within its category, compared without case, also against a restored one', async () => {
  const doc = await create('CLAUDE.md', 'a', { category: 'claude' });
  await refused('create_dev_doc', { title: 'claude.MD', content: '', category: 'claude' }, 422, {
    code: -32602,
    data: { field: 'title' },
  });
  await create('CLAUDE.md', 'b', { category: 'cursor' });
  const told = await refused('get_dev_doc', { title: 'CLAUDE.md' }, 422, { data: { field: 'category' } });
  expect(told).toBe('dev docs with this title are in claude, cursor; say which category');
  await run('delete_dev_doc', { id: doc.id });
  await create('CLAUDE.md', 'c', { category: 'claude' });
  await refused('update_dev_doc', { id: doc.id, restore: true }, 422, { data: { field: 'title' } });
});

test('[DOC-1, DOC-3] own categories are made when that is said, counted, and gone with their last document', async () => {
  const args = { title: 'a', content: '', category: ' Küche ' };
  expect(await refused('create_dev_doc', args, 422, { data: { field: 'category' } })).toMatch(/create_category: true/);
  expect((await create('a', '', { category: ' Küche ', create_category: true })).category).toBe('küche');
  await create('b', '', { category: 'KÜCHE' });
  await create('c', '', { category: 'mcp' });
  const counts = async () => {
    const { categories } = await run<{ categories: { name: string; doc_count: number; built_in: boolean }[] }>(
      'list_dev_categories',
      {},
    );
    expect(categories.filter(({ built_in: builtIn }) => builtIn)).toHaveLength(10);
    return categories.filter(({ doc_count: count }) => count > 0).map(({ name, doc_count: count }) => [name, count]);
  };
  expect(await counts()).toEqual([
    ['mcp', 1],
    ['küche', 2],
  ]);
  await run('delete_dev_doc', { id: 1 });
  expect(await counts()).toEqual([
    ['mcp', 1],
    ['küche', 1],
  ]);
  await run('delete_dev_doc', { id: 2 });
  expect(await counts()).toEqual([['mcp', 1]]);
  await refused('list_dev_docs', { category: 'küche' }, 422, { data: { field: 'category' } });
  await update({ id: 2, restore: true });
  expect(await counts()).toEqual([
    ['mcp', 1],
    ['küche', 1],
  ]);
});

test('[DOC-2] replace, append and prepend make the next version; the same text again makes none', async () => {
  const doc = await create('a.md', 'one');
  expect(await update({ id: 1, content: '\ntwo', mode: 'append', expected_version: 1 })).toMatchObject({ version: 2 });
  const third = await update({ title: 'a.md', content: 'zero\n', mode: 'prepend' });
  expect(third).toMatchObject({ id: 1, version: 3, size_bytes: 12, created_at: doc.created_at });
  expect(third.updated_at > doc.updated_at).toBe(true);
  expect(await get({ id: 1, include_versions: true })).toEqual({
    doc: { ...third, content: 'zero\none\ntwo' },
    current_version: 3,
    versions: [3, 2, 1].map((version) => expect.objectContaining({ version })),
  });
  expect(await get({ id: 1, version: 2 })).toMatchObject({
    doc: { version: 2, content: 'one\ntwo' },
    current_version: 3,
  });
  for (const again of [{ content: 'zero\none\ntwo' }, { content: '', mode: 'append' }]) {
    expect(await update({ id: 1, ...again })).toEqual(third);
  }
});

test('[DOC-2] a stale expected_version is a conflict that says the version that stands', async () => {
  await create('a.md', 'one');
  await update({ id: 1, content: 'two' });
  for (const expected of [1, 3]) {
    const write = { id: 1, content: 'x', mode: 'append', expected_version: expected };
    const data = { expected_version: expected, current_version: 2 };
    const told = await refused('update_dev_doc', write, 409, { code: -32006, data });
    expect(told).toContain('at version 2');
  }
});

test('[DOC-2] the last 50 versions are kept', async () => {
  await create('a.md', '0');
  for (let n = 1; n < 52; n += 1) await update({ id: 1, content: `${n}` });
  const { versions } = await get({ id: 1, include_versions: true });
  expect(versions?.map(({ version }) => version)).toEqual(Array.from({ length: 50 }, (_, n) => 52 - n));
  expect((await get({ id: 1, version: 3 })).doc.content).toBe('2');
  const told = await refused('get_dev_doc', { id: 1, version: 2 }, 404, { code: -32005 });
  expect(told).toBe('version 2 of this dev doc is not available; versions 3 to 52 are');
});

test('[DOC-2] deleting moves to the bin, again it answers the same, and restore brings all of it back', async () => {
  await create('a.md', 'one', { category: 'hooks' });
  const doc = await update({ id: 1, content: 'two' });
  const { cursor } = await run<{ cursor: string }>('pull_dev_docs', {});
  const deleted = await run('delete_dev_doc', { title: 'A.md' });
  expect(deleted).toEqual({ id: 1, deleted_at: expect.any(String) });
  for (const again of [{ title: 'a.md' }, { id: 1 }, { title: 'a.md', category: 'hooks' }]) {
    expect(await run('delete_dev_doc', again)).toEqual(deleted);
  }
  expect((await list()).docs).toEqual([]);
  expect(await run('pull_dev_docs', { cursor })).toMatchObject({
    docs: [],
    deleted: [{ type: 'deleted', ...(deleted as object) }],
  });
  expect(await run('pull_dev_docs', {})).toMatchObject({ docs: [], deleted: [], total_count: 0 });
  for (const [name, args] of [
    ['get_dev_doc', { id: 1 }],
    ['get_dev_doc', { title: 'a.md' }],
    ['update_dev_doc', { id: 1, content: 'x', mode: 'append' }],
  ] as const) {
    await refused(name, args, 404, { code: -32005 });
  }
  expect(await update({ title: 'a.md', category: 'hooks', restore: true })).toEqual(doc);
  expect(await update({ id: 1, restore: true })).toEqual(doc);
  expect((await get({ id: 1, version: 1 })).doc.content).toBe('one');
  expect((await list({ search: 'two', category: 'hooks' })).docs).toEqual([doc]);
  await run('delete_dev_doc', { id: 1 });
  expect(await update({ id: 1, restore: true, content: '!', mode: 'append' })).toMatchObject({ version: 3 });
});

/** Long contents by name, so that they stand in no title. */
const LONG: Record<string, string> = {
  'a mebibyte': 'x'.repeat(MIB),
  'a mebibyte and one': 'x'.repeat(MIB + 1),
  'too many bytes': 'é'.repeat(MIB / 2 + 1),
};

test.each([
  ['get_dev_doc', { id: 4711 }, 404, -32005, undefined],
  ['get_dev_doc', { title: 'nothing' }, 404, -32005, undefined],
  ['update_dev_doc', { title: 'nothing', content: 'x', mode: 'append' }, 404, -32005, undefined],
  ['update_dev_doc', { id: 4711, restore: true }, 404, -32005, undefined],
  ['delete_dev_doc', { id: 4711 }, 404, -32005, undefined],
  ['get_dev_doc', { id: 1, title: 'a' }, 422, -32602, 'title'],
  ['update_dev_doc', { id: 1, title: 'a', content: '' }, 422, -32602, 'title'],
  ['delete_dev_doc', { id: 1, category: 'docs' }, 422, -32602, 'category'],
  ['get_dev_doc', {}, 422, -32602, 'id'],
  ['get_dev_doc', { title: 'a', category: 'claud' }, 422, -32602, 'category'],
  ['get_dev_doc', { id: 0 }, 422, -32602, 'id'],
  ['get_dev_doc', { id: 1, version: 0 }, 422, -32602, 'version'],
  ['get_dev_doc', { id: 1, version: 9 }, 404, -32005, undefined],
  ['update_dev_doc', { id: 1 }, 422, -32602, 'content'],
  ['update_dev_doc', { id: 1, content: 'x', mode: 'insert' }, 422, -32602, 'mode'],
  ['update_dev_doc', { id: 1, content: '\ud800' }, 422, -32602, 'content'],
  ['update_dev_doc', { id: 1, content: 'a mebibyte', mode: 'append' }, 422, -32602, 'content'],
  ['update_dev_doc', { id: 1, content: 'too many bytes' }, 422, -32602, 'content'],
  ['update_dev_doc', { id: 1, content: 'a mebibyte and one' }, 422, -32602, 'content'],
  ['list_dev_docs', { limit: 201 }, 422, -32602, 'limit'],
  ['list_dev_docs', { cursor: 'abc' }, 422, -32602, 'cursor'],
  ['list_dev_docs', { search: '' }, 422, -32602, 'search'],
  ['list_dev_docs', { content_type: 'html' }, 422, -32602, 'content_type'],
  ['list_dev_docs', { category: 'nowhere' }, 422, -32602, 'category'],
])('[DOC-1, DOC-2, DOC-3] %s %j is refused, and nothing changed', async (name, named, status, code, field) => {
  await create('a', 'x');
  const args = 'content' in named ? { ...named, content: LONG[named.content ?? ''] ?? named.content } : named;
  await refused(name, args, status, { code, ...(field === undefined ? {} : { data: { field } }) });
});

test('[DOC-2, KEY-8] another account’s document answers as one that does not exist', async () => {
  await create('mine.md', 'secret');
  const foreign = await newKey(hub);
  for (const which of [{ id: 1 }, { title: 'mine.md' }]) {
    for (const [name, more] of [
      ['get_dev_doc', {}],
      ['update_dev_doc', { content: 'x' }],
      ['update_dev_doc', { restore: true }],
      ['delete_dev_doc', {}],
    ] as const) {
      const told = await callTool(hub, name, { ...which, ...more }, foreign);
      const unknown = Object.fromEntries(Object.entries(which).map(([field]) => [field, field === 'id' ? 99 : 'none']));
      expect(told.error).toEqual((await callTool(hub, name, { ...unknown, ...more }, foreign)).error);
      expect(told.error?.code).toBe(-32005);
    }
  }
  for (const name of ['list_dev_docs', 'pull_dev_docs']) {
    expect(structuredOf(await callTool(hub, name, {}, foreign))).toMatchObject({ docs: [] });
  }
  expect(structuredOf(await callTool(hub, 'list_dev_docs', { search: 'secret' }, foreign))).toMatchObject({ docs: [] });
  expect((await get({ id: 1 })).doc.content).toBe('secret');
});
