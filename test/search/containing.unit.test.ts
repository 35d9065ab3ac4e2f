/** What may contain a text: everything that does, and little else. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AccountIndex } from '../../src/search/account-index.ts';
import { type HavingQuery, needlesOf } from '../../src/search/containing.ts';
import { foldText } from '../../src/text/fold-text.ts';
import { runs, seed } from '../support/seed.ts';

function indexOf(texts: readonly string[]): AccountIndex {
  const index = new AccountIndex();
  for (const [at, text] of texts.entries())
    index.put({ kind: 'doc', key: String(at), stamp: 1, changedMs: 0, name: '', place: '', text });
  return index;
}

function having(index: AccountIndex, text: string, query: Partial<HavingQuery> = {}): number[] {
  const all = { kind: 'doc' as const, before: Number.MAX_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER };
  return [...index.having({ ...all, needles: needlesOf(text), ...query }).numbers];
}

const PIECES = [
  're',
  'Renew',
  'É',
  'E\u0301',
  'ключ',
  'Ключи',
  '배포',
  '김치찌개',
  '東京',
  'の',
  'ﬁ',
  'Ⅳ',
  '½',
  'ガ',
  '😀',
  'a',
];
const pieces = fc.constantFrom(...PIECES, ' ', '\n', '-', '_', '"', '/', '.', 'x'.repeat(45), '٣', 'ß');

test(`[DOC-3] a text that contains another is never ruled out (seed ${seed})`, () => {
  const text = fc.array(pieces, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(''));
  const cut = fc.tuple(fc.nat({ max: 200 }), fc.integer({ min: 1, max: 30 }));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), fc.array(cut, { maxLength: 8 }), (texts, cuts) => {
      const index = indexOf(texts);
      for (const [from, length] of cuts) {
        // A part of one of them, cut between characters.
        const signs = Array.from(texts[from % texts.length] ?? '');
        const start = from % Math.max(1, signs.length);
        const wanted = signs.slice(start, start + length).join('');
        const needles = needlesOf(wanted);
        const containing = texts.flatMap((one, at) => (foldText(one).includes(foldText(wanted)) ? [at] : []));
        if (needles.length > 0) expect(having(index, wanted)).toEqual(expect.arrayContaining(containing));
      }
    }),
    { seed, numRuns: runs(400, 20_000) },
  );
});

test.each([
  ['renew the cert', [2, 1, 0]],
  ['new the', [2, 1, 0]],
  ['ewing', [2]],
  ['renew a cert', []],
  ['치찌', [3]],
  ['치개', []],
  ['김', [3]],
])('[DOC-3] %j may be in %j', (wanted, keys) => {
  const index = indexOf(['Renew the certificate.', 'the cert: renew!', 'Renewing the certificates', '김치찌개']);
  expect(having(index, wanted)).toEqual(keys);
});

test('[DOC-3] a word that was cut off may have any part', () => {
  expect(having(indexOf(['a', 'x'.repeat(100)]), 'yyy')).toEqual([1]);
});

test('[DOC-3] candidates come the newest first, of one group, before a number, and no more than asked for', () => {
  const index = new AccountIndex();
  // Changed documents are indexed again, after newer ones.
  for (const number of [1, 2, 3, 4, 5, 300, 299, 2])
    index.put({
      kind: 'doc',
      key: String(number),
      stamp: 1,
      changedMs: 0,
      name: '',
      place: '',
      text: 'certificate',
      group: number % 2 === 0 ? 'even' : 'odd',
    });
  index.put({ kind: 'task', key: '9', stamp: 1, changedMs: 0, name: '', place: '', text: 'certificate' });
  expect(having(index, 'certificate')).toEqual([300, 299, 5, 4, 3, 2, 1]);
  expect(having(index, 'certificate', { group: 'even' })).toEqual([300, 4, 2]);
  expect(having(index, 'certificate', { group: 'odd', before: 5 })).toEqual([3, 1]);
  const first = { kind: 'doc', needles: needlesOf('certificate'), before: 300 } as const;
  expect(index.having({ ...first, most: 2 })).toEqual({ numbers: Float64Array.of(299, 5), isAll: false });
  expect(index.having({ ...first, most: 6 })).toMatchObject({ isAll: true });
});

test('[DOC-3] a text without words, or of one or two letters, rules nothing out', () => {
  expect(['->', 'ab', '¶', 'é', ' - '].map((text) => needlesOf(text).length)).toEqual([0, 0, 0, 0, 0]);
});
