/** What may contain a text: everything that does, and little else. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AccountIndex } from '../../src/search/account-index.ts';
import { needlesOf } from '../../src/search/containing.ts';
import { foldText } from '../../src/text/fold-text.ts';
import { runs, seed } from '../support/seed.ts';

function indexOf(texts: readonly string[]): AccountIndex {
  const index = new AccountIndex();
  for (const [at, text] of texts.entries())
    index.put({ kind: 'doc', key: String(at), stamp: 1, changedMs: 0, name: '', place: '', text });
  return index;
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
        const containing = texts.flatMap((one, at) => (foldText(one).includes(foldText(wanted)) ? [String(at)] : []));
        if (needles.length > 0) expect(index.having('doc', needles)).toEqual(expect.arrayContaining(containing));
      }
    }),
    { seed, numRuns: runs(400, 20_000) },
  );
});

test.each([
  ['renew the cert', ['0', '1', '2']],
  ['new the', ['0', '1', '2']],
  ['ewing', ['2']],
  ['renew a cert', []],
  ['치찌', ['3']],
  ['치개', []],
  ['김', ['3']],
])('[DOC-3] %j may be in %j', (wanted, keys) => {
  const index = indexOf(['Renew the certificate.', 'the cert: renew!', 'Renewing the certificates', '김치찌개']);
  expect(index.having('doc', needlesOf(wanted))).toEqual(keys);
});

test('[DOC-3] a word that was cut off may have any part', () => {
  expect(indexOf(['a', 'x'.repeat(100)]).having('doc', needlesOf('yyy'))).toEqual(['1']);
});

test('[DOC-3] a text without words, or of one or two letters, rules nothing out', () => {
  expect(['->', 'ab', '¶', 'é', ' - '].map((text) => needlesOf(text).length)).toEqual([0, 0, 0, 0, 0]);
});
