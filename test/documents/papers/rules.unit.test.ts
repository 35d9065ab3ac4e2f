/** The decisions about papers, each rule a row. */
import { expect, test } from 'vitest';
import { instantUpTo } from '../../../src/archive/records.ts';
import { Refusal } from '../../../src/common/fault.ts';
import { declaredPaper, type PaperRecord } from '../../../src/documents/papers/declared.ts';
import type { PaperFields } from '../../../src/documents/papers/fields.ts';
import { paperKind } from '../../../src/documents/papers/kind.ts';
import { decideCreatePaper, decidePaperBin, decidePatch, scopesOfPaper } from '../../../src/documents/papers/rules.ts';

const T0 = '2026-11-20T12:00:00.000Z';
const T1 = '2026-11-20T12:00:01.000Z';
const NOW = Date.parse(T1);
const SIZE = { size_bytes: 3, json_bytes: 5 };

const draft: PaperRecord = {
  id: 3,
  title: 'On cairns',
  category_id: null,
  published: false,
  published_at: null,
  version: 4,
  ...SIZE,
  created_at: T0,
  updated_at: T0,
  deleted_at: null,
  changed_by: 'laptop',
};
const out: PaperRecord = { ...draft, published: true, published_at: T0 };
const binned: PaperRecord = { ...out, deleted_at: T0 };

test.each<[string, Parameters<typeof decideCreatePaper>, object]>([
  [
    'a draft',
    [{ title: 'a' }, SIZE, undefined, NOW],
    { id: 1, category_id: null, published: false, published_at: null },
  ],
  ['of a category', [{ title: 'a', category_id: 2 }, SIZE, undefined, NOW], { title: 'a', category_id: 2, version: 1 }],
  ['published', [{ title: 'a', published: true }, SIZE, undefined, NOW], { published: true, published_at: T1 }],
  [
    'with the next number',
    [{ title: 'a' }, SIZE, { paper_id: 6 }, NOW],
    { id: 7, ...SIZE, created_at: T1, updated_at: T1 },
  ],
  ['by somebody', [{ title: 'a' }, SIZE, undefined, NOW, 'phone'], { changed_by: 'phone', deleted_at: null }],
])('[PAPER-1] a new paper is %s', (_, given, expected) => {
  const { paper, head } = decideCreatePaper(...given);
  expect(paper).toMatchObject(expected);
  expect(head).toEqual({ paper_id: paper.id });
  expect(given[4] === undefined && 'changed_by' in paper).toBe(false);
});

test.each<[string, PaperRecord, PaperFields, typeof SIZE | undefined, Partial<PaperRecord>]>([
  ['a title', draft, { title: 'b' }, undefined, { title: 'b', version: 4 }],
  ['a category', draft, { category_id: 9 }, undefined, { category_id: 9 }],
  ['no category', { ...draft, category_id: 9 }, { category_id: null }, undefined, { category_id: null }],
  [
    'another text',
    draft,
    { content: 'x' },
    { size_bytes: 1, json_bytes: 3 },
    { size_bytes: 1, json_bytes: 3, version: 5 },
  ],
  ['another text of the same size', draft, { content: 'abd' }, SIZE, { version: 5 }],
  ['publication', draft, { published: true }, undefined, { published: true, published_at: T1 }],
  ['a draft again', out, { published: false }, undefined, { published: false, published_at: null }],
  ['a title of a published paper', out, { title: 'b', published: true }, undefined, { title: 'b', published_at: T0 }],
  ['restore', binned, { restore: true }, undefined, { deleted_at: null, published_at: T0, version: 4 }],
  [
    'restore as a draft',
    binned,
    { restore: true, published: false },
    undefined,
    { published: false, deleted_at: null, published_at: null },
  ],
  ['the expected version', draft, { expected_version: 4, title: 'b' }, undefined, { title: 'b' }],
])('[PAPER-1] a change: %s', (_, before, fields, size, changed) => {
  const expected = { ...before, ...changed, updated_at: T1, changed_by: 'phone' };
  expect(decidePatch(before, fields, size, NOW, 'phone')).toEqual(expected);
});

test.each<[string, PaperRecord, PaperFields]>([
  ['nothing', draft, {}],
  ['the same title', draft, { title: 'On cairns' }],
  ['no category, again', draft, { category_id: null }],
  ['a draft, again', draft, { published: false }],
  ['published, again', out, { published: true }],
  ['restore of a live paper', out, { restore: true }],
  ['the expected version alone', draft, { expected_version: 4 }],
])('[PAPER-1] no change: %s', (_, before, fields) => {
  expect(decidePatch(before, fields, undefined, NOW, 'phone')).toBe(before);
});

/** Another value for each field that a caller may change. A new field does not compile without one. */
const OTHER: Required<Pick<PaperRecord, keyof typeof declaredPaper.changeInput.shape>> = {
  title: 'Another',
  category_id: 8,
  published: true,
};

test.each(Object.keys(declaredPaper.changeInput.shape) as (keyof typeof OTHER)[])(
  '[PAPER-1] %s is a change that an answer shows and an archive keeps',
  (field) => {
    const next = decidePatch(draft, { [field]: OTHER[field] }, undefined, NOW);
    expect(next).toMatchObject({ [field]: OTHER[field], updated_at: T1 });
    expect(declaredPaper.show(next)).toMatchObject({ [field]: OTHER[field] });
    const { size_bytes: _size, json_bytes: _json, ...bare } = next;
    const line = { type: 'paper', ...paperKind.archive.lineOf(bare, () => true) };
    expect(paperKind.archive.line(instantUpTo(NOW)).parse(line)).toEqual({ ...bare, type: 'paper' });
  },
);

test('[PAPER-1] an archive has every member of a record but those that follow from its text', () => {
  const line = Object.keys(declaredPaper.archivedAs('paper', instantUpTo(NOW)).shape);
  expect(new Set([...line, 'size_bytes', 'json_bytes'])).toEqual(new Set([...Object.keys(draft), 'type']));
});

test('[PAPER-1] a stale expected_version is refused with the current one', () => {
  const patch = () => decidePatch(draft, { expected_version: 3, title: 'b' }, undefined, NOW);
  expect(patch).toThrow(Refusal);
  expect(patch).toThrow('the paper is at version 4, not 3');
});

test('[PAPER-1] times never go back, and an unknown author is not the author before', () => {
  const early = decidePatch(draft, { title: 'b' }, undefined, Date.parse(T0) - 5000);
  expect(early.updated_at).toBe(T0);
  expect(early).not.toHaveProperty('changed_by');
  expect(decidePatch(draft, { published: true }, undefined, Date.parse(T0) - 5000).published_at).toBe(T0);
});

test('[PAPER-1] a paper goes to the trash as it is', () => {
  expect(decidePaperBin(out, NOW, 'phone')).toEqual({ ...out, deleted_at: T1, changed_by: 'phone' });
});

test.each<[PaperRecord, readonly string[]]>([
  [draft, ['*:*', 'draft:*']],
  [out, ['*:*', 'published:*']],
  [{ ...draft, category_id: 2 }, ['*:*', 'draft:*', '*:2', 'draft:2']],
  [{ ...out, category_id: 2 }, ['*:*', 'published:*', '*:2', 'published:2']],
  [binned, []],
])('[PAPER-1] a paper is in these lists (%#)', (paper, scopes) => {
  expect(scopesOfPaper(paper)).toEqual(scopes);
});

const place = { last: 2, head: { paper_id: 3 } };
const { size_bytes: _size, json_bytes: _json, ...archived } = out;

test.each<[string, typeof archived, typeof place, RegExp]>([
  ['the number before it again', archived, { ...place, last: 3 }, /id 3 must be above 3/],
  ['a number above the counter', archived, { ...place, head: { paper_id: 2 } }, /at most the counter/],
  ['an unknown category', { ...archived, category_id: 7 }, place, /not a category of the archive/],
  ['published without a time', { ...archived, published_at: null }, place, /contradicts/],
  ['a draft with a time', { ...archived, published: false }, place, /contradicts/],
])('[OPS-13] an archive with %s is refused', (_, paper, at, sentence) => {
  expect(() => paperKind.archive.read(paper, at, (id) => id === 2)).toThrow(sentence);
});

test('[OPS-13] a paper of an archive is as it was; a deleted category is exported as none', () => {
  expect(paperKind.archive.read({ ...archived, category_id: 2 }, place, (id) => id === 2)).toMatchObject({
    category_id: 2,
  });
  expect(paperKind.archive.lineOf({ ...archived, category_id: 7 }, () => false)).toEqual(archived);
});
