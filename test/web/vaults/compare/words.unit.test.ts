/** Which words of two lines differ. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedWords } from '../../../../src/web/vaults/compare/words.ts';
import { seed } from '../../../support/seed.ts';

const marked = (parts: readonly { text: string; isChanged: boolean }[]) =>
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('');

test.each([
  ['- two bottles of milk', '- oat milk', '- [two bottles of] milk', '- [oat] milk'],
  ['const a = 1;', 'const a = 2;', 'const a = [1];', 'const a = [2];'],
  ['사과 세 개', '사과 네 개', '사과 [세] 개', '사과 [네] 개'],
  ['same', 'same again', 'same', 'same[ again]'],
])('[WEB-1] of “%s” and “%s”, the words that differ are marked', (left, right, before, after) => {
  expect(changedWords(left, right)?.map(marked)).toEqual([before, after]);
});

test.each([
  ['one', 'two'],
  ['{', '}'],
  ['word '.repeat(500), 'other word '.repeat(500)],
])('[WEB-1] lines without a common word, and very long ones, have no marks', (left, right) => {
  expect(changedWords(left, right)).toBeUndefined();
});

test('[WEB-1] the parts of a line are the line', () => {
  const line = fc.stringMatching(/^[ab .\u00e9]{0,40}$/u);
  fc.assert(
    fc.property(line, line, (left, right) => {
      const parts = changedWords(left, right);
      fc.pre(parts !== undefined);
      expect(parts.map((one) => one.map(({ text }) => text).join(''))).toEqual([left, right]);
      const common = parts.map((one) => one.flatMap(({ text, isChanged }) => (isChanged ? [] : [text])).join(''));
      expect(common[0]).toBe(common[1]);
    }),
    { seed },
  );
});
