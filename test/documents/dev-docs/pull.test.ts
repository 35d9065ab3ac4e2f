/** Proves the pull of dev docs: what it gives, in which order, and that nothing is left out or told twice. */
import { beforeAll, expect, test } from 'vitest';
import { callTool, post, structuredOf, textOf, toolRequest, withKey } from '../../support/gateway.ts';
import { useHub } from '../../support/use-hub.ts';
import { newKey, pullLines, recordsOf } from './support.ts';

interface Gone {
  readonly id: number;
  readonly title: string;
  readonly category: string;
  readonly deleted_at: string;
  readonly moved_to?: string;
}

interface Doc {
  readonly id: number;
  readonly title: string;
  readonly updated_at: string;
}

interface Pull {
  readonly docs: readonly Doc[];
  readonly deleted: readonly Gone[];
  readonly total_count: number;
  readonly cursor: string;
  readonly has_more: boolean;
}

const hub = useHub({ loudest: 40, verified: true });
let key: string;

beforeAll(async () => {
  key = await newKey(hub);
});

const pull = async (args: object, who = key) => structuredOf<Pull>(await callTool(hub, 'pull_dev_docs', args, who));
const create = async (args: object, who = key) =>
  structuredOf<{ doc: Doc }>(await callTool(hub, 'create_dev_doc', { content: 'x', ...args }, who)).doc;

test('[DOC-3] a pull goes on from a cursor, a time of a document, or the time of the server', async () => {
  const first = await create({ title: 'a.md', category: 'claude' });
  const before = await pull({});
  const second = await create({ title: 'b.json', category: 'cursor' });
  const third = await create({ title: 'c', category: 'Claude' });
  expect((await pull({})).docs.map(({ title }) => title)).toEqual(['a.md', 'b.json', 'c']);
  for (const args of [{ cursor: before.cursor }, { since: first.updated_at }]) {
    expect((await pull(args)).docs.map(({ id }) => id)).toEqual([second.id, third.id]);
  }
  expect((await pull({ category: 'claude' })).docs.map(({ id }) => id)).toEqual([first.id, third.id]);
  const { cursor, docs } = await pull({ since: third.updated_at });
  expect([docs, (await pull({ cursor })).docs]).toEqual([[], []]);
  // A time beyond the newest change comes from a clock that was wrong: nothing may be missed.
  expect((await pull({ since: '2100-01-01' })).docs.map(({ id }) => id)).toEqual([first.id, second.id, third.id]);
});

test('[DOC-2, DOC-3] a client that keeps one category hears what left it, under the title that it has there', async () => {
  const own = await newKey(hub);
  const update = (args: object) => callTool(hub, 'update_dev_doc', args, own);
  const stays = await create({ title: 'stays', category: 'claude' }, own);
  const leaves = await create({ title: 'leaves', category: 'claude' }, own);
  const other = await create({ title: 'other', category: 'cursor' }, own);
  const { cursor } = await pull({ category: 'claude' }, own);
  await update({ id: leaves.id, new_category: 'cursor', new_title: 'left' });
  await update({ id: leaves.id, new_title: 'renamed' });
  await update({ id: other.id, content: 'more' });
  const later = await pull({ category: 'claude', cursor }, own);
  expect(later).toMatchObject({
    docs: [],
    deleted: [{ id: leaves.id, title: 'leaves', category: 'claude', moved_to: 'cursor' }],
    total_count: 1,
    has_more: false,
  });
  expect(await pull({ category: 'claude', cursor: later.cursor }, own)).toMatchObject({ docs: [], deleted: [] });
  expect((await pull({ category: 'cursor', cursor }, own)).docs.map(({ title }) => title)).toEqual([
    'renamed',
    'other',
  ]);
  expect((await pull({ cursor }, own)).deleted).toEqual([]);
  expect((await pull({ category: 'claude' }, own)).docs.map(({ id }) => id)).toEqual([stays.id]);
  const told = await callTool(hub, 'pull_dev_docs', { category: 'claude', cursor }, own);
  expect(textOf(told)).toMatch(/^0 dev docs .*, 1 moved away; cursor[\s\S]*#2 claude\/leaves moved to cursor at /);
  // Deleted where it went: it is gone from both.
  await callTool(hub, 'delete_dev_doc', { id: leaves.id }, own);
  const gone = await pull({ category: 'claude', cursor }, own);
  expect(gone.deleted).toEqual([expect.objectContaining({ id: leaves.id, title: 'leaves', category: 'claude' })]);
  expect(gone.deleted[0]).not.toHaveProperty('moved_to');
});

test.each([
  [{ category: 'claud' }, 'category', /did you mean claude\?/],
  [{ category: 'elsewhere' }, 'category', /unknown; it is one of claude, cursor/],
  [{ since: 'yesterday' }, 'since', /ISO 8601/],
  [{ since: '2026-02-30T00:00:00Z' }, 'since', /ISO 8601/],
  [{ since: '2026-02-03T00:00:00' }, 'since', /zone/],
  [{ cursor: 'x' }, 'cursor', /omit it/],
  [{ cursor: '1', since: '2026-01-01' }, 'cursor', /not both/],
  [{ limit: 5 }, 'limit', /limit is not a known field/],
])('[DOC-3] %j is refused', async (args, field, sentence) => {
  const { error } = await callTool(hub, 'pull_dev_docs', args, key);
  expect(error).toMatchObject({ code: -32602, data: { field }, message: expect.stringMatching(sentence) });
});

test('[DOC-1] wrong documents are refused, all that is wrong at once, and nothing is kept', async () => {
  const own = await newKey(hub);
  await create({ title: 'CLAUDE.md' }, own);
  const before = await pull({}, own);
  const wrong = [
    [{ title: 'claude.MD' }, { title: [expect.stringMatching(/already has/)] }],
    [
      { title: ' \u0007 ', content: '\ud800' },
      { title: [expect.anything()], content: [expect.anything()] },
    ],
    [{ title: 'x', content: 'é'.repeat(524_289) }, { content: [expect.stringMatching(/1048578 bytes/)] }],
    [
      { title: 'x', category: 'coursor' },
      { category: [expect.stringMatching(/did you mean cursor\?.*create_category/)] },
    ],
    [{ title: 'x', content_type: 'html' }, { content_type: [expect.anything()] }],
    [{ title: 'y'.repeat(201) }, { title: [expect.anything()] }],
  ] as const;
  for (const [args, errors] of wrong) {
    const { error } = await callTool(hub, 'create_dev_doc', { content: 'x', ...args }, own);
    expect(error).toMatchObject({ code: -32602, data: { errors } });
  }
  expect(await pull({ cursor: before.cursor }, own)).toMatchObject({ docs: [], deleted: [] });
});

test('[DOC-1, DOC-3] a pull of more documents than one answer takes goes on, and gives each once', async () => {
  const own = await newKey(hub);
  const count = 2001;
  for (let first = 0; first < count; first += 100) {
    const batch = Array.from({ length: Math.min(100, count - first) }, (_, n) =>
      toolRequest(n, 'create_dev_doc', { title: `${first + n}`, content: `text ${first + n}` }),
    );
    await post(hub, batch, withKey(own));
  }
  const [start, ...rest] = recordsOf(await pullLines(hub, own));
  const end = rest.pop();
  expect([start?.['total_count'], rest.length, end?.['has_more']]).toEqual([2000, 2000, true]);
  const more = await pull({ cursor: end?.['cursor'] }, own);
  expect([more.docs.length, more.has_more]).toEqual([1, false]);
  expect(new Set([...rest, ...more.docs].map(({ id }) => id)).size).toBe(count);
});
