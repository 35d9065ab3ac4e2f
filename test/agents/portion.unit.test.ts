/** Which part of a text a call of read answers, and which things an id names. */
import { expect, test } from 'vitest';
import { thingPlaceOf } from '../../src/agents/things/ids.ts';
import { type TextPartRequest, textPartOf } from '../../src/agents/things/portion.ts';

const TEXT = '# A\n\none\n\n## B\n\ntwo\n\n# C\nthree';

const portions: readonly (readonly [TextPartRequest, string, number, number])[] = [
  [{}, TEXT, 1, 10],
  [{ lines: '3' }, 'one\n', 3, 3],
  [{ lines: '3-5' }, 'one\n\n## B\n', 3, 5],
  [{ lines: '9-' }, '# C\nthree', 9, 10],
  [{ lines: '9-99' }, '# C\nthree', 9, 10],
  [{ heading: 'b' }, '## B\n\ntwo\n\n', 5, 8],
  [{ heading: '# A' }, TEXT.slice(0, TEXT.indexOf('# C')), 1, 8],
];

test.each(portions)('[FIND-3] %j of a text', (request, text, from, to) => {
  expect(textPartOf(TEXT, request, 1000)).toEqual({ text, from, to, total: 10, next: undefined });
});

test('[FIND-3] the pages of a long text are the whole text, in order, also within a line', () => {
  for (const text of ['line\n'.repeat(50), 'é'.repeat(300), `${'x'.repeat(90)}\n😀😀\n${'y'.repeat(250)}`, '']) {
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const page = textPartOf(text, { cursor }, 100);
      expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(100);
      pages.push(page.text);
      cursor = page.next;
    } while (cursor !== undefined && pages.length < 100);
    expect(pages.join('')).toBe(text);
  }
});

test.each([
  [{ lines: '0' }, 'counted from 1'],
  [{ lines: '5-3' }, 'counted from 1'],
  [{ lines: 'all' }, 'counted from 1'],
  [{ lines: '11' }, 'there are 10 lines'],
  [{ heading: 'D' }, 'it has:\n# A (line 1)'],
  [{ lines: '1', heading: 'A' }, 'not both'],
  [{ cursor: 'x' }, 'earlier answer'],
] as const)('[FIND-3] %j is refused', (request, says) => {
  expect(() => textPartOf(TEXT, request, 1000)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(says) }),
  );
});

test.each([
  ['notes/a b.md', { kind: 'file', vault: undefined, path: 'notes/a b.md' }],
  ['/notes/a.md', { kind: 'file', vault: undefined, path: 'notes/a.md' }],
  ['cairn://vaults/v_1/notes/a%20b.md', { kind: 'file', vault: 'v_1', path: 'notes/a b.md' }],
  ['cairn://vaults/v_1/', { kind: 'file', vault: 'v_1', path: '' }],
  ['cairn://docs/rules/House%20style', { kind: 'doc', category: 'rules', title: 'House style' }],
  ['cairn://docs/7', { kind: 'doc', id: 7 }],
  ['cairn://handoffs/cairn/release', { kind: 'handoff', project: 'cairn', topic: 'release' }],
  ['cairn://handoffs/3', { kind: 'handoff', id: 3 }],
  ['cairn://papers/5', { kind: 'paper', id: 5 }],
  ['cairn://papers/new', { kind: 'paper', id: undefined }],
  ['cairn://tasks/9', { kind: 'task', id: 9 }],
  ['cairn://conflicts/c1', { kind: 'conflict', id: 'c1' }],
])('[FIND-3] %s names what it says', (id, place) => {
  expect(thingPlaceOf(id)).toEqual(place);
});

test.each([
  ['cairn://', 'cairn://docs/{category}/{title}'],
  ['cairn://nowhere/1', 'cairn://docs/{category}/{title}'],
  ['cairn://docs/', 'cairn://docs/{category}/{title}'],
  ['cairn://docs/%ff/x', 'cairn://docs/{category}/{title}'],
  ['cairn://tasks/x', 'must be one of cairn://tasks/{id}; search'],
  ['cairn://handoffs/a/b/c', 'cairn://handoffs/{project}/{topic}'],
])('[FIND-3] %j is no id, and the forms of its kind are told', (id, form) => {
  expect(() => thingPlaceOf(id)).toThrow(expect.objectContaining({ message: expect.stringContaining(form) }));
});
