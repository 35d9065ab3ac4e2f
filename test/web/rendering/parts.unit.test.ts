/** A long text is divided into parts at the ends of lines, and a line is found in its part. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textPart, type WantedPart } from '../../../src/web/rendering/parts.ts';
import { seed } from '../../support/seed.ts';

fc.configureGlobal({ seed });

test.each<[string, string, WantedPart, object]>([
  ['an empty text', '', { part: 1 }, { text: '', part: 1, parts: 1, firstLine: 1, lastLine: 1 }],
  ['a short text', 'a\nb\n', { part: 1 }, { text: 'a\nb\n', part: 1, parts: 1, firstLine: 1, lastLine: 2 }],
  ['the first of two', 'aaa\nbbb\nccc\n', { part: 1 }, { text: 'aaa\nbbb\n', parts: 2, firstLine: 1, lastLine: 2 }],
  ['the second', 'aaa\nbbb\nccc\n', { part: 2 }, { text: 'ccc\n', part: 2, parts: 2, firstLine: 3, lastLine: 3 }],
  ['beyond the last', 'aaa\nbbb\nccc\n', { part: 9 }, { text: 'ccc\n', part: 2 }],
  ['the part of a line', 'aaa\nbbb\nccc\nddd', { line: 3 }, { text: 'ccc\nddd', part: 2, firstLine: 3, lastLine: 4 }],
  ['a line beyond the end', 'aaa\nbbb\nccc', { line: 99 }, { text: 'ccc', part: 2 }],
  ['a line longer than a part', 'abcdefghijkl\nm', { part: 2 }, { text: 'ijkl\nm', firstLine: 1, lastLine: 2 }],
  ['its line begins in the first part', 'abcdefghijkl\nm', { line: 1 }, { text: 'abcdefgh', part: 1 }],
  ['no character is cut', 'abcdefg😀hij', { part: 1 }, { text: 'abcdefg', parts: 2 }],
])('[WEB-13] %s', (_name, text, wanted, expected) => {
  expect(textPart(text, wanted, 8)).toMatchObject(expected);
});

test('[WEB-13] the parts are the text, none is longer than allowed, and lines are counted on', () => {
  const texts = fc.array(fc.constantFrom('a', 'bc', '\n', '\r\n', '😀', 'long word')).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 12 }), (text, charsMax) => {
      const { parts } = textPart(text, { part: 1 }, charsMax);
      const all = Array.from({ length: parts }, (_, at) => textPart(text, { part: at + 1 }, charsMax));
      expect(all.map((one) => one.text).join('')).toBe(text);
      for (const one of all) {
        expect(one.text.length).toBeLessThanOrEqual(charsMax);
        const before = all.slice(0, one.part - 1).map((other) => other.text);
        expect(one.firstLine).toBe(before.join('').split('\n').length);
        expect(textPart(text, { line: one.lastLine }, charsMax).part).toBeLessThanOrEqual(one.part);
      }
    }),
  );
});
