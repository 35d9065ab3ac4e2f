/** What a decided change writes, for every kind: records, versions, rows of lists, the trash. Each case a row. */
import { expect, test } from 'vitest';
import type { DevDocRecord } from '../../src/documents/dev-docs/declared.ts';
import { devDocKind } from '../../src/documents/dev-docs/kind.ts';
import type { HandoffRecord } from '../../src/documents/handoffs/declared.ts';
import { handoffKind } from '../../src/documents/handoffs/kind.ts';
import type { DocumentKind, DocumentRecord } from '../../src/documents/kind.ts';
import type { PaperRecord } from '../../src/documents/papers/declared.ts';
import { paperKind } from '../../src/documents/papers/kind.ts';
import { checkExpected, checkNumber, cleanName, foldName } from '../../src/documents/rules.ts';
import { textErrors } from '../../src/documents/texts.ts';
import { binKey, putDocument } from '../../src/documents/write.ts';
import { limits } from '../../src/limits/service.ts';
import type { Batch } from '../../src/store/group-commit.ts';
import type { AnyTable, Key } from '../../src/store/table.ts';
import { timeAfterIso } from '../../src/time/truth.ts';

const T0 = '2026-11-20T12:00:00.000Z';
const T1 = '2026-11-20T12:00:01.000Z';
const [MS0, MS1] = [Date.parse(T0), Date.parse(T1)];
const BASE = { id: 2, version: 60, size_bytes: 3, json_bytes: 5, created_at: T0, updated_at: T0 };
const LIVE = { ...BASE, deleted_at: null };

const paper: PaperRecord = { ...LIVE, title: 'a', category_id: null, published: false, published_at: null };
const doc: DevDocRecord = { ...LIVE, title: 'a.md', category: 'docs', content_type: 'markdown', changed_ms: MS0 };
const handoff: HandoffRecord = { ...BASE, project: 'p', topic: 't', date: '2026-11-20', time: null, preview: '' };

/** The rows that a change writes, without those of usage and the text index. */
function written<R extends DocumentRecord, H>(kind: DocumentKind<R, H>, before: R | undefined, after: R, head?: H) {
  const rows: string[] = [];
  const note = (sign: string) => (table: AnyTable, key: Key) =>
    rows.push(`${sign} ${table.name} ${key.slice(table.name === 'document_bin' ? 0 : 1).join(' ')}`.trim());
  const batch = { get: () => undefined, range: () => [], put: note('+'), remove: note('-') };
  const held = (record: R, text: string) => ({ record, text: () => text });
  putDocument(kind, batch as unknown as Batch, 'acc', before && held(before, 'old'), held(after, 'new'), head);
  return rows.filter((row) => !/usage|dev_doc_grams|dev_doc_counts/.test(row)).sort();
}

const text = (space: string, version: number) => [
  `+ version_rows ${space} 2 ${version}`,
  `+ version_texts ${space} 2 ${version}`,
];
const gone = (space: string, version: number) => [
  `- version_rows ${space} 2 ${version}`,
  `- version_texts ${space} 2 ${version}`,
];
const paperLists = (sign: string) => [`${sign} paper_rows *:* 2`, `${sign} paper_rows draft:* 2`];
const changes = (sign: string, ms: number) => [
  `${sign} dev_doc_changes * ${ms}`,
  `${sign} dev_doc_changes =docs ${ms}`,
];
const docLists = (sign: string) => [
  ...['*:*', 'markdown:*', '*:=docs', 'markdown:=docs'].map((scope) => `${sign} dev_doc_rows ${scope} 2`),
  `${sign} dev_doc_titles a.md live docs`,
];
const moved = [...changes('-', MS0), ...changes('+', MS1)];
const inBin = (ms: number, space: string, version = 0) => `document_bin ${ms} acc ${space} 2 ${version}`;

const binnedPaper = { ...paper, deleted_at: T0 };
const laterDoc = { ...doc, changed_ms: MS1, updated_at: T1 };
const cases: readonly (readonly [string, string[], string[]])[] = [
  [
    'a new paper',
    written(paperKind, undefined, { ...paper, version: 1 }, { paper_id: 2 }),
    ['+ papers 2', '+ paper_heads', ...text('papers', 1), ...paperLists('+')],
  ],
  ['a title of a paper', written(paperKind, paper, { ...paper, title: 'b' }), ['+ papers 2']],
  [
    'a paper keeps 50 texts',
    written(paperKind, paper, { ...paper, version: 61 }),
    ['+ papers 2', ...text('papers', 61), ...gone('papers', 61 - limits.documentVersionsMax)],
  ],
  [
    'a published paper changes lists',
    written(paperKind, paper, { ...paper, published: true, published_at: T1 }),
    ['+ papers 2', '- paper_rows draft:* 2', '+ paper_rows published:* 2'],
  ],
  [
    'a category adds lists',
    written(paperKind, paper, { ...paper, category_id: 4 }),
    ['+ papers 2', '+ paper_rows *:4 2', '+ paper_rows draft:4 2'],
  ],
  [
    'a deleted paper',
    written(paperKind, paper, { ...paper, deleted_at: T1 }),
    ['+ papers 2', ...paperLists('-'), `+ ${inBin(MS1, 'papers')}`],
  ],
  [
    'a restored paper',
    written(paperKind, binnedPaper, paper),
    ['+ papers 2', ...paperLists('+'), `- ${inBin(MS0, 'papers')}`],
  ],
  [
    'a restored paper with a text',
    written(paperKind, binnedPaper, { ...paper, version: 61 }),
    [
      '+ papers 2',
      ...paperLists('+'),
      `- ${inBin(MS0, 'papers')}`,
      ...text('papers', 61),
      ...gone('papers', 61 - limits.documentVersionsMax),
    ],
  ],
  [
    'a new dev doc',
    written(devDocKind, undefined, { ...doc, version: 1 }, { doc_id: 2, changed_ms: MS0 }),
    ['+ dev_docs 2', '+ dev_doc_heads', ...text('docs', 1), ...changes('+', MS0), ...docLists('+')],
  ],
  [
    'a dev doc keeps 50 texts',
    written(devDocKind, doc, { ...laterDoc, version: 61 }),
    ['+ dev_docs 2', ...moved, ...text('docs', 61), ...gone('docs', 61 - limits.documentVersionsMax)],
  ],
  [
    'a young dev doc drops none',
    written(devDocKind, { ...doc, version: 49 }, { ...laterDoc, version: 50 }),
    ['+ dev_docs 2', ...moved, ...text('docs', 50)],
  ],
  [
    'a deleted dev doc',
    written(devDocKind, doc, { ...doc, changed_ms: MS1, deleted_at: T1 }),
    ['+ dev_docs 2', ...moved, ...docLists('-'), '+ dev_doc_titles a.md binned docs', `+ ${inBin(MS1, 'docs')}`],
  ],
  [
    'a restored dev doc',
    written(devDocKind, { ...doc, deleted_at: T0 }, { ...doc, changed_ms: MS1 }),
    ['+ dev_docs 2', ...moved, ...docLists('+'), `- ${inBin(MS0, 'docs')}`],
  ],
  [
    'a new handoff',
    written(handoffKind, undefined, { ...handoff, version: 1 }, { handoff_id: 2 }),
    [
      '+ handoffs 2',
      '+ handoff_heads',
      ...text('handoffs', 1),
      '+ handoff_names p t d2026-11-20 ----',
      '+ handoff_names p t t---- 2026-11-20',
      '+ handoff_rows * 2026-11-20 ---- 000000000000002',
      '+ handoff_rows =p 2026-11-20 ---- 000000000000002',
    ],
  ],
  [
    'a replaced handoff keeps its text for a while',
    written(handoffKind, handoff, { ...handoff, version: 61, updated_at: T1 }),
    ['+ handoffs 2', ...text('handoffs', 61), `+ ${inBin(MS1, 'handoffs', 60)}`],
  ],
];

test.each(cases)('[DOC-2, HAND-1, PAPER-1] %s', (_, rows, expected) => {
  expect(rows).toEqual([...expected].sort());
});

test('[DOC-2] a place in the trash is since when, whose, and what: a document or one version', () => {
  const name = { accountId: 'acc', space: 'docs', id: 2 } as const;
  expect(binKey(T0, name)).toEqual([MS0, 'acc', 'docs', 2, 0]);
  expect(binKey(T0, name, 3)).toEqual([MS0, 'acc', 'docs', 2, 3]);
});

test.each<[number | undefined, number, boolean]>([
  [undefined, 4, true],
  [4, 4, true],
  [0, 0, true],
  [3, 4, false],
  [5, 4, false],
  [0, 1, false],
])('[DOC-2] expected_version %s of version %i is taken: %s', (expected, current, isTaken) => {
  const check = () => checkExpected('dev doc', expected, current);
  if (isTaken) check();
  else expect(check).toThrow(`the dev doc is at version ${current}, not ${expected}`);
});

test.each<[number, number, number, boolean]>([
  [1, 0, 1, true],
  [5, 2, 9, true],
  [2, 2, 9, false],
  [1, 2, 9, false],
  [10, 2, 9, false],
])('[OPS-13] number %i after %i, up to %i: %s', (id, last, head, isTaken) => {
  const check = () => checkNumber(id, last, head);
  if (isTaken) check();
  else expect(check).toThrow('must be above');
});

test.each([
  [' A b ', 'A b', 'a b'],
  ['E\u0301', '\u00c9', '\u00e9'],
  ['ÄÖ', 'ÄÖ', 'äö'],
])('[DOC-1, HAND-1] the name %j is stored as %j and found as %j', (name, stored, folded) => {
  expect([cleanName(name), foldName(name)]).toEqual([stored, folded]);
});

test.each([
  [MS1, T0, T1],
  [MS0, T0, T0],
  [MS0 - 1, T0, T0],
])('[PAPER-1, HAND-1] at %i after %s it is %s', (nowMs, earlier, at) => {
  expect(timeAfterIso(nowMs, earlier)).toBe(at);
});

test.each<[string, boolean]>([
  ['', true],
  ['x'.repeat(limits.documentBytesMax), true],
  ['x'.repeat(limits.documentBytesMax + 1), false],
  [`${'x'.repeat(limits.documentBytesMax - 1)}é`, false],
  ['\ud800', false],
])('[DOC-1, LIM-2] a text is taken (%#)', (given, isTaken) => {
  expect(Object.keys(textErrors(given))).toEqual(isTaken ? [] : ['content']);
});
