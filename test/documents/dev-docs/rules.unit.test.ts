/** The decisions about dev docs, each rule a row. */
import { expect, test } from 'vitest';
import type { DevDocRecord } from '../../../src/documents/dev-docs/declared.ts';
import { devDocKind } from '../../../src/documents/dev-docs/kind.ts';
import {
  changeScope,
  contentTypeOf,
  decideCreateDoc,
  decideDocBin,
  decideWrite,
  joinText,
  listScope,
  type Mode,
} from '../../../src/documents/dev-docs/rules.ts';

const T0 = '2026-11-20T12:00:00.000Z';
const MS = Date.parse(T0);
const SIZE = { size_bytes: 3, json_bytes: 5 };
const NAMES = { title: 'CLAUDE.md', category: 'claude', content_type: 'markdown' } as const;

const live: DevDocRecord = {
  id: 2,
  ...NAMES,
  version: 4,
  ...SIZE,
  created_at: T0,
  updated_at: T0,
  changed_ms: MS,
  deleted_at: null,
};
const binned: DevDocRecord = { ...live, changed_ms: MS + 9, deleted_at: '2026-11-20T12:00:00.009Z' };
const head = { doc_id: 5, changed_ms: MS + 9 };

test.each<[string, typeof head | undefined, number, { id: number; changed_ms: number }]>([
  ['the first', undefined, MS, { id: 1, changed_ms: MS }],
  ['the next, later', head, MS + 50, { id: 6, changed_ms: MS + 50 }],
  ['the next, in the same millisecond', head, MS + 9, { id: 6, changed_ms: MS + 10 }],
  ['the next, with a clock that went back', head, MS - 500, { id: 6, changed_ms: MS + 10 }],
])('[DOC-1, DOC-3] a new dev doc: %s', (_, before, nowMs, { id, changed_ms }) => {
  const at = new Date(changed_ms).toISOString();
  const doc = { id, ...NAMES, version: 1, ...SIZE, created_at: at, updated_at: at, changed_ms, deleted_at: null };
  expect(decideCreateDoc(NAMES, SIZE, before, nowMs, 'phone')).toEqual({
    doc: { ...doc, changed_by: 'phone' },
    head: { doc_id: id, changed_ms },
  });
});

const bigger = { size_bytes: 9, json_bytes: 11 };
const later = new Date(MS + 50).toISOString();

test.each<[string, DevDocRecord, typeof SIZE | undefined, number, Partial<DevDocRecord>]>([
  ['a new text', live, bigger, MS + 50, { ...bigger, version: 5, updated_at: later, changed_ms: MS + 50 }],
  [
    'a new text in a millisecond already used',
    live,
    SIZE,
    MS,
    { version: 5, updated_at: '2026-11-20T12:00:00.010Z', changed_ms: MS + 10 },
  ],
  ['restored', binned, undefined, MS + 50, { deleted_at: null, changed_ms: MS + 50 }],
  [
    'restored with a new text',
    binned,
    bigger,
    MS + 50,
    { ...bigger, version: 5, updated_at: later, changed_ms: MS + 50, deleted_at: null },
  ],
])('[DOC-2] a dev doc after a write: %s', (_, before, size, nowMs, changed) => {
  const expected = { ...before, ...changed, changed_by: 'phone' };
  expect(decideWrite(before, size, head, nowMs, 'phone')).toEqual({
    doc: expected,
    head: { ...head, changed_ms: expected.changed_ms },
  });
});

test('[DOC-2] deleting is the last change of a dev doc', () => {
  const { doc, head: next } = decideDocBin({ ...live, changed_by: 'laptop' }, head, MS, undefined);
  expect(doc).toEqual({ ...live, changed_ms: MS + 10, deleted_at: '2026-11-20T12:00:00.010Z' });
  expect(next).toEqual({ ...head, changed_ms: MS + 10 });
});

test.each<[Mode, string]>([
  ['replace', 'new'],
  ['append', 'oldnew'],
  ['prepend', 'newold'],
])('[DOC-2] %s joins without a line break', (mode, text) => {
  expect(joinText(mode, 'old', 'new')).toBe(text);
});

test.each([
  ['README', 'markdown'],
  ['a.md', 'markdown'],
  ['a.MDC', 'markdown'],
  ['a.mdx', 'markdown'],
  ['a.markdown', 'markdown'],
  ['a.json', 'json'],
  ['a.jsonc', 'json'],
  ['a.json5', 'json'],
  ['a.yaml', 'yaml'],
  ['a.yml', 'yaml'],
  ['a.txt', 'text'],
  ['a.md.txt', 'text'],
  ['v1.2', 'markdown'],
])('[DOC-1] %s is %s', (title, type) => {
  expect(contentTypeOf(title)).toBe(type);
});

test.each<[string, string]>([
  [listScope(undefined, undefined), '*:*'],
  [listScope('claude', undefined), '*:=claude'],
  [listScope(undefined, 'json'), 'json:*'],
  [listScope('*', 'json'), 'json:=*'],
  [changeScope(undefined), '*'],
  [changeScope('*'), '=*'],
])('[DOC-3] the scope %s', (scope, expected) => {
  expect(scope).toBe(expected);
});

const rowsOf = (doc: DevDocRecord) => devDocKind.rowsOf('acc', doc).map(({ name }) => name);

test('[DOC-3] a live dev doc has rows for each list, its title and each order of changes; a deleted one only the last', () => {
  const changes = (ms: number) => [`dev_doc_changes ["acc","*",${ms}]`, `dev_doc_changes ["acc","=claude",${ms}]`];
  const lists = ['*:*', 'markdown:*', '*:=claude', 'markdown:=claude'];
  expect(new Set(rowsOf(live))).toEqual(
    new Set([
      ...changes(MS),
      ...lists.map((scope) => `dev_doc_rows ["acc","${scope}",2]`),
      'dev_doc_titles ["acc","claude.md","live","claude"]',
    ]),
  );
  expect(rowsOf(binned)).toEqual(changes(MS + 9));
});

const { size_bytes: _size, json_bytes: _json, changed_ms: _changed, ...shown } = live;
const line = { ...shown, changed_at: T0 };
const place = { last: MS - 1, head };

test.each<[string, typeof line, typeof place, RegExp]>([
  ['an earlier change after a later one', line, { ...place, last: MS }, /order of their last change/],
  ['a number above the counter', { ...line, id: 6 }, place, /above the counters/],
  ['a change above the counter', { ...line, changed_at: later }, place, /above the counters/],
  ['a change after its deletion', { ...line, deleted_at: later }, place, /deleting is the last change/],
])('[OPS-13] an archive with %s is refused', (_, doc, at, sentence) => {
  expect(() => devDocKind.archive.read(doc, at, () => true)).toThrow(sentence);
});

test('[OPS-13] a dev doc of an archive is the one that was exported', () => {
  const { size_bytes: _s, json_bytes: _j, ...bare } = binned;
  const exported = devDocKind.archive.lineOf(bare, () => true);
  expect(exported).toMatchObject({ changed_at: binned.deleted_at, deleted_at: binned.deleted_at });
  expect(devDocKind.archive.read(exported, place, () => true)).toEqual(bare);
  expect(devDocKind.archive.countersOf(undefined, { id: 2, place: MS })).toEqual({ doc_id: 2, changed_at: T0 });
  expect(devDocKind.archive.countersOf(head, { id: 2, place: MS })).toMatchObject({ doc_id: 5 });
});
